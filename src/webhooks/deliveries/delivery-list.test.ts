import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { book, setStayStatus } from '#test/support/hotel.ts';
import type { TestService } from '#test/support/service.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { causeEvent, register } from '#test/support/webhooks.ts';
import { entriesOf } from '#test/support/lists.ts';
import { firstIdAt, newId } from '#platform/lib/ids.ts';

const PATH = '/v1/staff/webhook-deliveries/';
const URL_A = 'https://partner.example/hook';

const { service, hotel } = await useHotel();
let sibling: Awaited<ReturnType<TestService['credential']>>;
let all: { id: string; created_at: string; event: string; subject: object }[];
let subjects: object[];
before(async () => {
  sibling = await service.credential(hotel.tenantId);
  await register(service, hotel.partner, URL_A);
  await register(service, sibling.partner, URL_A);
  const first = await causeEvent(service, hotel);
  const stay = (await book(service, hotel, { external_reservation_id: 'stay-1' })).body.reservation_id;
  const second = await causeEvent(service, hotel, sibling.partner);
  await setStayStatus(service, hotel, stay, 'cancelled');
  const order = ({ orderId, externalId }: typeof first) => ({ type: 'order', id: orderId, external_id: externalId });
  const reservation = { type: 'reservation', id: stay, external_id: 'stay-1' };
  subjects = [order(first), reservation, order(second), reservation];
  const stranger = await service.tenant();
  await register(service, stranger.partner, URL_A);
  await causeEvent(service, stranger);
  all = (await list({})).body.results.toReversed();
  const [, failed] = all;
  await service.database.db
    .updateTable('delivery')
    .set({ status: 'failed' })
    .where('id', '=', failed?.id ?? '')
    .execute();
});

const list = (query: Record<string, string>) =>
  service.call('GET', `${PATH}?${new URLSearchParams(query)}`, { headers: hotel.staff });

/** Reads the list at once and one by one, and asserts that both are equal. Returns the listed deliveries as positions in `all`. */
async function found(query: Record<string, string>): Promise<number[]> {
  const path = `${PATH}?${new URLSearchParams(query)}`;
  const deliveries = await entriesOf(service, path, hotel.staff);
  assert.deepEqual(await entriesOf(service, path, hotel.staff, 1), deliveries);
  return deliveries.map(({ id }: { id: string }) => all.findIndex((each) => each.id === id));
}

describe('GET /v1/staff/webhook-deliveries/', () => {
  it('200: a delivery has exactly the fields of the contract, with the time of an attempt in milliseconds', async () => {
    const own = await service.tenant();
    await register(service, own.partner, URL_A);
    const { orderId, externalId } = await causeEvent(service, own);
    const attempt = { at: '2026-01-02T03:04:05.678901+00:00', http_status: 204, duration_ms: 12, error: null };
    await service.database.db
      .updateTable('delivery')
      .set({ status: 'delivered', attempts: JSON.stringify([attempt]), attempt_count: 1 })
      .where('tenant_id', '=', own.tenantId)
      .execute();
    const [delivery, ...others] = await entriesOf(service, PATH, own.staff);
    const expected = {
      id: delivery.id,
      event: 'order.status_changed',
      event_id: delivery.id,
      status: 'delivered',
      attempts: [{ at: '2026-01-02T03:04:05.678Z', http_status: 204, duration_ms: 12, error: null }],
      created_at: delivery.created_at,
      credential_id: own.credential.id,
      credential_label: 'A platform',
      next_attempt_at: null,
      subject: { type: 'order', id: orderId, external_id: externalId },
    };
    assert.deepEqual(others, []);
    assert.equal(JSON.stringify(delivery), JSON.stringify(expected));
    assert.match(delivery.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('200: each delivery names its credential and its order or stay, and a waiting delivery has the time of its next attempt', async () => {
    const { results } = (await list({})).body;
    assert.deepEqual(
      results.map(({ subject }: { subject: object }) => subject),
      subjects.toReversed(),
    );
    const own = { credential_id: hotel.credential.id, credential_label: 'A platform' };
    assert.partialDeepStrictEqual(results[3], own);
    assert.equal(results[1].credential_id, sibling.credential.id);
    assert.ok(Math.abs(Date.parse(results[3].next_attempt_at) - Date.parse(results[3].created_at)) < 60_000);
    assert.equal(results[2].next_attempt_at, null);
  });

  it('200: the delivery list can be filtered by credential_id, event, status or ids, and by several of these together', async () => {
    assert.deepEqual(await found({ credential_id: sibling.credential.id }), [2]);
    assert.deepEqual(await found({ event: 'order.status_changed' }), [2, 0]);
    assert.deepEqual(await found({ event: 'reservation.cancelled' }), [3]);
    assert.deepEqual(await found({ event: 'reservation.modified' }), []);
    assert.deepEqual(await found({ status: 'failed' }), [1]);
    assert.deepEqual(await found({ status: 'pending' }), [3, 2, 0]);
    assert.deepEqual([await found({ status: 'delivered' }), await found({ status: 'stopped' })], [[], []]);
    assert.deepEqual(await found({ ids: [all[3]?.id, all[0]?.id.toUpperCase(), newId()].join() }), [3, 0]);
    const both = { credential_id: hotel.credential.id, event: 'order.status_changed' };
    assert.deepEqual(await found(both), [0]);
    assert.deepEqual(await found({ ...both, ids: String(all[0]?.id), status: 'pending' }), [0]);
    assert.deepEqual(await found({ ...both, ids: String(all[3]?.id) }), []);
    assert.deepEqual(await found({ ...both, status: 'failed' }), []);
  });

  it('200: a filter by an unknown id, or by an id of another tenant, gives an empty list', async () => {
    const stranger = await service.tenant();
    for (const credential_id of [newId(), stranger.credential.id]) {
      assert.deepEqual(await found({ credential_id }), []);
      assert.deepEqual(await found({ credential_id, event: 'order.status_changed' }), []);
    }
    assert.deepEqual(await found({ ids: newId() }), []);
  });

  it('200: each delivery is listed if created_from is exactly its time, and is not listed if created_to is exactly its time', async () => {
    for (const [index, { created_at }] of all.entries()) {
      const atMs = Date.parse(created_at);
      const near = (ms: number) => new Date(atMs + ms).toISOString();
      const [from, later] = [await found({ created_from: created_at }), await found({ created_from: near(1) })];
      assert.deepEqual([from.includes(index), later.includes(index)], [true, false], created_at);
      const [to, after1] = [await found({ created_to: created_at }), await found({ created_to: near(1) })];
      assert.deepEqual([to.includes(index), after1.includes(index)], [false, true], created_at);
      assert.deepEqual(await found({ created_from: near(-60_000), created_to: near(60_000) }), [3, 2, 1, 0]);
      assert.ok(!(await found({ created_from: created_at.replace('Z', '1Z') })).includes(index));
      const inZone = `${new Date(atMs + 3_600_000).toISOString().slice(0, -1)}+01:00`;
      assert.ok((await found({ created_from: inZone, created_to: near(1) })).includes(index), inZone);
    }
    assert.deepEqual(await found({ created_from: '9999-12-31T23:59:59Z' }), []);
    assert.deepEqual(await found({ created_to: '0001-01-01T00:00:00Z' }), []);
    assert.deepEqual(await found({ created_from: '2030-01-01T00:00:00Z', created_to: '2029-01-01T00:00:00Z' }), []);
  });

  it('200: created_from and created_to filter by created_at of a delivery, even if the time in its UUID is later', async () => {
    const own = await service.tenant();
    const created_at = new Date('2026-03-01T10:00:00.000Z');
    const id = firstIdAt(created_at.getTime() + 20_000);
    await insertEvents(service.database.db, [eventOf(own, { id, created_at, delivery: { status: 'delivered' } })]);
    const count = async (query: Record<string, string>) => {
      const answer = await service.call('GET', `${PATH}?${new URLSearchParams(query)}`, { headers: own.staff });
      return answer.body.results.length;
    };
    assert.equal(await count({ created_from: '2026-03-01T10:00:00.001Z' }), 0);
    assert.equal(await count({ created_from: '2026-03-01T10:00:00Z', created_to: '2026-03-01T10:00:00.001Z' }), 1);
    const event = 'order.status_changed';
    assert.equal(await count({ event, created_to: '2026-03-01T10:00:00.001Z' }), 1);
    assert.equal(await count({ event, created_to: '2026-03-01T10:00:00Z' }), 0);
  });
});
