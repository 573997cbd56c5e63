import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, countByStatus } from '#test/support/answers.ts';
import { eventRows } from '#test/support/events.ts';
import { dumpRows, orderPath, setOrderStatus, place, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { startService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { ORDER_STATUSES } from './order-status.ts';

const { service, tenant } = await useRestaurant();

describe('request_id of POST /v1/staff/orders/{order_id}/status/', () => {
  const CHANGED = ['event', 'delivery', 'restaurant_order', 'order_status_change', 'audit_entry'];
  const newOrder = async (of = tenant) => (await place(service, of)).body as Record<string, string>;
  const idOf = async () => (await newOrder())['order_id'] ?? '';
  const change = (id: string, status: string, request_id?: string) =>
    setOrderStatus(service, tenant, id, status, request_id === undefined ? {} : { request_id });
  const statusesOfEvents = async (id: string) => {
    const rows = await eventRows(service.database.db, tenant.tenantId);
    return rows.map(({ body }) => JSON.parse(body).data).flatMap((data) => (data.order_id === id ? [data.status] : []));
  };

  it('200: a change that is repeated with its request_id gets the same response, and writes no row and no second event', async () => {
    const id = await idOf();
    const request_id = crypto.randomUUID();
    const first = await change(id, 'ready', request_id);
    assert.equal(first.status, 200, first.text);
    const rows = await dumpRows(service, ...CHANGED);
    for (const repeated of [request_id, request_id.toUpperCase()]) {
      const repeat = await change(id, 'ready', repeated);
      assert.deepEqual([repeat.status, repeat.text], [200, first.text]);
    }
    const form = new URLSearchParams({ status: 'ready', request_id });
    const ofForm = await service.call('POST', `${STAFF_ORDERS}${id}/status/`, { headers: tenant.owner, body: form });
    assert.deepEqual([ofForm.status, ofForm.text], [200, first.text]);
    assert.deepEqual(await dumpRows(service, ...CHANGED), rows);
    assert.deepEqual(await statusesOfEvents(id), ['ready']);
  });

  it('200: a call that repeats a request_id, with the same or another status, gets the stored order and changes nothing', async () => {
    const id = await idOf();
    const request_id = crypto.randomUUID();
    const first = await change(id, 'preparing', request_id);
    const rows = await dumpRows(service, ...CHANGED);
    for (const status of ORDER_STATUSES) {
      const repeat = await change(id, status, request_id);
      assert.deepEqual([repeat.status, repeat.text], [200, first.text], status);
    }
    assert.deepEqual(await dumpRows(service, ...CHANGED), rows);
  });

  it('200: a change into a final status can be repeated with its request_id', async () => {
    for (const status of ['completed', 'cancelled']) {
      const id = await idOf();
      const request_id = crypto.randomUUID();
      const answers = [await change(id, status, request_id), await change(id, status, request_id)];
      assert.deepEqual(
        answers.map((answer) => [answer.status, answer.body.status]),
        Array.from({ length: 2 }, () => [200, status]),
      );
      assert.deepEqual(await statusesOfEvents(id), [status]);
    }
  });

  it('200: ten concurrent changes with one request_id on two nodes all get the order, and one event is written', async () => {
    const other = await startService({ beside: service });
    try {
      const id = await idOf();
      const request_id = crypto.randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          setOrderStatus(index % 2 ? service : other, tenant, id, 'ready', { request_id }),
        ),
      );
      assert.deepEqual(countByStatus(answers), { 200: 10 });
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.deepEqual(await statusesOfEvents(id), ['ready']);
    } finally {
      await other.close();
    }
  });

  it('200, 409: of concurrent changes to the same status with different request_ids, one succeeds', async () => {
    const id = await idOf();
    const answers = await Promise.all(Array.from({ length: 5 }, () => change(id, 'ready', crypto.randomUUID())));
    assert.deepEqual(countByStatus(answers), { 200: 1, 409: 4 });
    assert.deepEqual(await statusesOfEvents(id), ['ready']);
  });

  it('200: after later changes with another request_id or without one, a call with the earlier request_id is still a repeat', async () => {
    for (const later of [crypto.randomUUID(), undefined]) {
      const id = await idOf();
      const earlier = crypto.randomUUID();
      assert.equal((await change(id, 'confirmed', earlier)).status, 200);
      const stored = await change(id, 'preparing', later);
      for (const status of ['confirmed', 'ready', 'cancelled']) {
        const repeat = await change(id, status, earlier.toUpperCase());
        assert.deepEqual([repeat.status, repeat.text], [200, stored.text], status);
      }
      assert.deepEqual(await statusesOfEvents(id), ['confirmed', 'preparing']);
    }
  });

  it('200: if staff repeat an earlier change with its request_id after the partner has cancelled the order, the response is the cancelled order', async () => {
    const order = await newOrder();
    const id = order['order_id'] ?? '';
    const request_id = crypto.randomUUID();
    assert.equal((await change(id, 'confirmed', request_id)).status, 200);
    const path = orderPath(order['external_order_id'] ?? '', 'cancel/');
    assert.equal((await service.call('POST', path, { headers: tenant.partner })).status, 200);
    const repeat = await change(id, 'confirmed', request_id);
    assert.deepEqual([repeat.status, repeat.body.status], [200, 'cancelled']);
    assert.deepEqual(await statusesOfEvents(id), ['confirmed', 'cancelled']);
  });

  it('200: a repeat with the same request_id is accepted even if its expected_status is outdated', async () => {
    const id = await idOf();
    const request_id = crypto.randomUUID();
    const more = { request_id, expected_status: 'pending' };
    const first = await setOrderStatus(service, tenant, id, 'ready', more);
    const repeat = await setOrderStatus(service, tenant, id, 'ready', more);
    assert.deepEqual([first.status, repeat.status, repeat.text], [200, 200, first.text]);
  });

  it('409: a repeat of a refused change is refused again, because only an accepted change stores its request_id', async () => {
    const id = await idOf();
    const [kept, refused] = [crypto.randomUUID(), crypto.randomUUID()];
    await change(id, 'ready', kept);
    for (let count = 0; count < 2; count += 1) {
      assertError(await change(id, 'preparing', refused), 409, 'invalid_status_transition');
    }
    assertError(await change(id, 'ready'), 409, 'invalid_status_transition');
    assert.equal((await change(id, 'ready', kept)).status, 200);
  });

  it('200: calls with the same request_id can change several orders, of the same tenant and of another tenant', async () => {
    const stranger = await service.tenant();
    const request_id = crypto.randomUUID();
    const theirs = (await newOrder(stranger))['order_id'] ?? '';
    for (const id of [await idOf(), await idOf()]) {
      assert.equal((await change(id, 'ready', request_id)).body.status, 'ready');
      assert.deepEqual(await statusesOfEvents(id), ['ready']);
    }
    assertError(await change(theirs, 'ready', request_id), 404, 'error');
    const changed = await setOrderStatus(service, stranger, theirs, 'confirmed', { request_id });
    assert.deepEqual([changed.status, changed.body.status], [200, 'confirmed']);
    assertError(await change(theirs, 'confirmed', request_id), 404, 'error');
  });
});
