import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { EVENTS, eventOf, insertEvents } from '#test/support/feed.ts';
import { book, setStayStatus } from '#test/support/hotel.ts';
import { entriesOf } from '#test/support/lists.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { causeEvent, onlyDelivery, register } from '#test/support/webhooks.ts';
import { newId } from '#platform/lib/ids.ts';
import type { StaffEvent } from './schema.ts';

const STAFF_EVENTS = '/v1/staff/events/';

const { service, hotel } = await useHotel();
let sibling: Awaited<ReturnType<TestService['credential']>>;
/**
 * The five events of the tenant `hotel`, oldest first. Its first credential registered a webhook after the first event, so only the later
 * events of this credential have deliveries.
 */
let all: StaffEvent[];
before(async () => {
  sibling = await service.credential(hotel.tenantId);
  await causeEvent(service, hotel);
  await register(service, hotel.partner, 'https://partner.example/hook');
  const stay = (await book(service, hotel, { external_reservation_id: 'stay-1' })).body.reservation_id;
  await causeEvent(service, hotel, sibling.partner);
  await setStayStatus(service, hotel, stay, 'cancelled');
  await causeEvent(service, hotel);
  await causeEvent(service, await service.tenant());
  all = (await list({})).body.results.toReversed();
});

const list = (query: Record<string, string>, of: TestTenant = hotel) =>
  service.call('GET', `${STAFF_EVENTS}?${new URLSearchParams(query)}`, { headers: of.staff });

/** Reads the list at once and in pages of two events, and asserts that both are equal. Returns the events as positions in `all`. */
async function found(query: Record<string, string>): Promise<number[]> {
  const path = `${STAFF_EVENTS}?${new URLSearchParams(query)}`;
  const events = await entriesOf(service, path, hotel.staff);
  assert.deepEqual(await entriesOf(service, path, hotel.staff, 2), events);
  return events.map(({ event_id }: StaffEvent) => all.findIndex((each) => each.event_id === event_id));
}

describe('GET /v1/staff/events/', () => {
  it('200: the event list of staff has the events of all partners, newest first, each with `credential_id` and all fields of the partner event feed except `cursor`', async () => {
    assert.deepEqual(await found({}), [4, 3, 2, 1, 0]);
    const own = await service.call('GET', EVENTS, { headers: hotel.partner });
    const shown = all.filter(({ credential_id }) => credential_id === hotel.credential.id);
    assert.deepEqual(
      shown.map(({ credential_id, ...event }) => event),
      own.body.results.map(({ cursor, ...event }: { cursor: string }) => event),
    );
    assert.deepEqual(Object.keys(all[0] ?? {}), [
      'event_id',
      'event',
      'occurred_at',
      'data',
      'credential_id',
      'delivery',
    ]);
    assert.deepEqual(
      all.map(({ delivery }) => delivery?.status ?? null),
      [null, 'pending', null, 'pending', 'pending'],
    );
  });

  it('200: the event list can be filtered by credential_id, type or ids, and by several of these together', async () => {
    assert.deepEqual(await found({ credential_id: sibling.credential.id }), [2]);
    assert.deepEqual(await found({ type: 'order.status_changed' }), [4, 2, 0]);
    assert.deepEqual(await found({ type: 'reservation.created' }), [1]);
    assert.deepEqual(await found({ type: 'reservation.modified' }), []);
    const own = { credential_id: hotel.credential.id, type: 'order.status_changed' };
    assert.deepEqual(await found(own), [4, 0]);
    const ids = [all[0]?.event_id, all[3]?.event_id.toUpperCase(), newId()].join();
    assert.deepEqual(await found({ ids }), [3, 0]);
    assert.deepEqual(await found({ ...own, ids }), [0]);
  });

  it('200: the event list is empty if `credential_id` or `ids` is not of this tenant', async () => {
    const stranger = await service.tenant();
    const [theirs = ''] = await insertEvents(service.database.db, [eventOf(stranger)]);
    for (const query of [{ credential_id: newId() }, { credential_id: stranger.credential.id }, { ids: theirs }]) {
      assert.deepEqual(await found(query), []);
    }
  });
});

describe('GET /v1/staff/credentials/{id}/feed/', () => {
  const feed = (id: string, query = '', of: TestTenant = hotel) =>
    service.call('GET', `/v1/staff/credentials/${id}/feed/${query}`, { headers: of.staff });
  const ofPartner = (query = '', partner = hotel.partner) => service.call('GET', EVENTS + query, { headers: partner });

  it('200: staff get the feed with exactly the bytes that the partner gets, even if staff read the feed first', async () => {
    const node = await service.tenant();
    const receiver = await startReceiver({ answer: () => ({ status: 500, body: 'no' }) });
    const own = await startService({
      beside: service,
      worker: { drawWaitMs: () => 0, probeRestMs: 0, keepAnswers: true },
    });
    try {
      await causeEvent(service, node);
      await register(own, node.partner, receiver.url);
      await causeEvent(own, node);
      await onlyDelivery(own, node, 'failed');
      const { id } = node.credential;
      const first = await feed(id, '', node);
      assert.deepEqual(
        first.body.results.map(({ cursor }: { cursor: string }) => cursor),
        ['1', '2'],
      );
      for (const query of [
        '',
        '?limit=1',
        '?after=1',
        '?after=2&limit=200',
        '?after=latest',
        '?after=',
        '?limit=200',
      ]) {
        const [staff, partner] = [await feed(id, query, node), await ofPartner(query, node.partner)];
        assert.equal(staff.text, partner.text, query);
        assert.deepEqual([staff.status, partner.status], [200, 200]);
        for (const header of ['x-webhook-header-brand', 'content-type', 'cache-control']) {
          assert.equal(staff.headers.get(header), partner.headers.get(header), header);
        }
      }
      const [entry] = (await ofPartner('?after=1', node.partner)).body.results;
      assert.deepEqual(Object.keys(entry), ['cursor', 'event', 'event_id', 'occurred_at', 'data', 'delivery']);
      assert.deepEqual(Object.keys(entry.delivery.attempts[0]), ['at', 'http_status', 'duration_ms', 'error']);
      // The new event has no position in the feed. The event gets a position when the partner reads the feed. Staff must then see this
      // position.
      await insertEvents(service.database.db, [eventOf(node)]);
      const { text } = await ofPartner('?after=2', node.partner);
      assert.equal((await feed(id, '?after=2', node)).text, text);
    } finally {
      await own.close();
      await receiver.close();
    }
  });

  it('200: if staff read the feed of a credential, the feed has only events of this credential, even after the credential was revoked', async () => {
    const { credential, partner } = await service.credential(hotel.tenantId);
    await causeEvent(service, hotel, partner);
    const earlier = await feed(credential.id);
    assert.equal(earlier.body.results.length, 1);
    const revoke = `/v1/third-party/credentials/${credential.id}/revoke/`;
    await service.call('POST', revoke, { headers: hotel.owner });
    assert.equal((await ofPartner('', partner)).status, 401);
    assert.deepEqual((await feed(credential.id.toUpperCase())).body, earlier.body);
  });

  it('400: if the feed returns 400 to the partner, the same call of staff gets 400 with the same message', async () => {
    for (const query of [
      '?after=x',
      '?after=-1',
      '?after=999999',
      '?after=7-1',
      '?limit=0',
      '?limit=201',
      '?limit=x',
    ]) {
      const [staff, partner] = [await feed(hotel.credential.id, query), await ofPartner(query)];
      assert.equal(staff.text, partner.text, query);
      faultsOf(staff);
    }
  });

  it('404: the feed of an unknown or malformed credential id, of a partner of another tenant or of a PMS is not found', async () => {
    const pms = await service.call('POST', '/v1/channel-manager/credentials/', { headers: hotel.owner });
    const stranger = await service.tenant();
    for (const id of [newId(), 'x', pms.body.id, stranger.credential.id]) {
      assertError(await feed(id), 404, 'error');
    }
  });
});
