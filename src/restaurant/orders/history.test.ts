import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, countByStatus, faultsOf } from '#test/support/answers.ts';
import { eventRows } from '#test/support/events.ts';
import { dumpRows, orderPath, place, setOrderStatus, STAFF_ORDERS } from '#test/support/restaurant.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';
import { callNumberOf } from '#platform/lib/natural-id.ts';

const { service, tenant } = await useRestaurant();

const read = async (id: string, of = tenant) =>
  (await service.call('GET', `${STAFF_ORDERS}${id}/`, { headers: of.staff })).body;
const newId = async (of = tenant): Promise<string> => (await place(service, of)).body.order_id;

async function personId(of: TestTenant, role: 'owner' | 'staff') {
  return await service.database.db
    .selectFrom('app_user')
    .select(['id', 'email'])
    .where('tenant_id', '=', of.tenantId)
    .where('role', '=', role)
    .executeTakeFirstOrThrow();
}

describe('fields of an order that show who placed it and when it changed', () => {
  it('200: a new order has its number, its credential and the time of its placement, in the list and in the single read', async () => {
    const own = await service.tenant();
    const id = await newId(own);
    const order = await read(id, own);
    const { number, credential_id, credential_label, status_changed_at, ready_by, cancel_reason, created_at } = order;
    assert.deepEqual(
      [number, credential_id, credential_label, status_changed_at, ready_by, cancel_reason],
      [callNumberOf(id), own.credential.id, 'A platform', created_at, null, null],
    );
    assert.match(number, /^[0-9A-HJKMNP-TV-Z]{4}$/);
    const by = { type: 'partner', id: own.credential.id, name: 'A platform' };
    assert.deepEqual(order.history, [{ status: 'pending', at: created_at, by }]);
    const { history, ...listed } = order;
    assert.deepEqual(await entriesOf(service, STAFF_ORDERS, own.staff), [listed]);
  });

  it('200: the history has each status with its time, and with the id and name of the person or partner who set it', async () => {
    const own = await service.tenant();
    const [owner, staff] = [await personId(own, 'owner'), await personId(own, 'staff')];
    await service.database.db.updateTable('app_user').set({ name: 'Rui' }).where('id', '=', owner.id).execute();
    const { body: order } = await place(service, own);
    const id: string = order.order_id;
    const confirmed = await setOrderStatus(service, { ...own, staff: own.owner }, id, 'confirmed');
    const ready = await setOrderStatus(service, own, id, 'ready');
    const path = orderPath(order.external_order_id, 'cancel/');
    assert.equal((await service.call('POST', path, { headers: own.partner })).status, 200);
    const { history, status_changed_at, cancel_reason } = await read(id, own);
    const partner = { type: 'partner', id: own.credential.id, name: 'A platform' };
    assert.deepEqual(
      history.map(({ status, by }: Record<string, unknown>) => [status, by]),
      [
        ['pending', partner],
        ['confirmed', { type: 'person', id: owner.id, name: 'Rui' }],
        ['ready', { type: 'person', id: staff.id, name: staff.email }],
        ['cancelled', partner],
      ],
    );
    const times = history.map(({ at }: { at: string }) => at);
    assert.ok(
      times.every((at: string, index: number) => index === 0 || at >= times[index - 1]),
      times.join(),
    );
    assert.deepEqual([times[1], times[2]], [confirmed.body.status_changed_at, ready.body.status_changed_at]);
    assert.deepEqual([times[3], cancel_reason], [status_changed_at, null]);
  });

  it('200: the response to a change has the time of this change, and no history', async () => {
    const id = await newId();
    const beganAtMs = Date.now();
    const { body } = await setOrderStatus(service, tenant, id, 'confirmed');
    const at = Date.parse(body.status_changed_at);
    assert.ok(at >= beganAtMs && at <= Date.now(), body.status_changed_at);
    assert.equal('history' in body, false);
  });
});

describe('expected_status, reason and ready_by of POST /v1/staff/orders/{order_id}/status/', () => {
  it('409: a change with an outdated expected_status is refused and writes no row; 200: with the current status it is accepted', async () => {
    const id = await newId();
    assert.equal((await setOrderStatus(service, tenant, id, 'confirmed', { expected_status: 'pending' })).status, 200);
    const rows = await dumpRows(service, 'restaurant_order', 'order_status_change', 'event');
    const late = await setOrderStatus(service, tenant, id, 'preparing', { expected_status: 'pending' });
    assert.match(assertError(late, 409, 'invalid_status_transition'), /is confirmed, not pending/);
    assert.deepEqual(await dumpRows(service, 'restaurant_order', 'order_status_change', 'event'), rows);
    assert.equal((await setOrderStatus(service, tenant, id, 'ready', { expected_status: 'confirmed' })).status, 200);
  });

  it('200, 409: of two concurrent changes with the same expected_status to different statuses, one succeeds', async () => {
    const id = await newId();
    const answers = await Promise.all(
      ['confirmed', 'ready', 'cancelled', 'preparing'].map((status) =>
        setOrderStatus(service, tenant, id, status, { expected_status: 'pending' }),
      ),
    );
    assert.deepEqual(countByStatus(answers), { 200: 1, 409: 3 });
    assert.equal((await read(id)).history.length, 2);
  });

  it('200: the reason of a cancellation is in the order and not in the event; 400: if the new status is not cancelled, a reason is refused', async () => {
    const id = await newId();
    const refused = await setOrderStatus(service, tenant, id, 'confirmed', { reason: 'why' });
    assert.deepEqual(faultsOf(refused), ['reason: is accepted only with the status "cancelled"']);
    assert.deepEqual(
      faultsOf(await setOrderStatus(service, tenant, 'x', 'ready', { reason: 'why' })),
      faultsOf(refused),
    );
    const reason = 'The guest did not answer 🍕';
    const { body, status } = await setOrderStatus(service, tenant, id, 'cancelled', { reason });
    assert.deepEqual([status, body.cancel_reason, (await read(id)).cancel_reason], [200, reason, reason]);
    const events = (await eventRows(service.database.db, tenant.tenantId)).filter((row) => row.body.includes(id));
    assert.deepEqual(
      events.map((event) => Object.keys(JSON.parse(event.body).data)),
      [['order_id', 'external_order_id', 'status']],
    );
  });

  it('200: ready_by is stored with any status, and a change without ready_by keeps the stored value', async () => {
    const id = await newId();
    const first = await setOrderStatus(service, tenant, id, 'confirmed', { ready_by: '2030-05-01T20:00:00+02:00' });
    assert.equal(first.body.ready_by, '2030-05-01T18:00:00.000Z');
    assert.equal((await setOrderStatus(service, tenant, id, 'preparing')).body.ready_by, first.body.ready_by);
    await setOrderStatus(service, tenant, id, 'ready', { ready_by: '2030-05-01T18:05:00.5Z' });
    assert.equal((await read(id)).ready_by, '2030-05-01T18:05:00.500Z');
  });
});
