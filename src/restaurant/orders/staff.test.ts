import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { insertOrders } from '#test/support/orders.ts';
import { dumpRows, setOrderStatus, place, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { compileSchema, findFaults } from '#platform/lib/validation.ts';
import { mayFollow, ORDER_STATUSES, ORDER_TYPES } from './order-status.ts';
import { StaffOrder } from './staff-schema.ts';

const FIELDS = [
  'order_id',
  'external_order_id',
  'status',
  'order_type',
  'customer',
  'delivery_address',
  'notes',
  'lines',
  'total',
  'currency',
  'created_at',
  'number',
  'credential_id',
  'credential_label',
  'status_changed_at',
  'ready_by',
  'cancel_reason',
];

const { service, tenant } = await useRestaurant();

const list = (of: TestTenant, query = '') => service.call('GET', STAFF_ORDERS + query, { headers: of.staff });

describe('GET /v1/staff/orders/ and /v1/staff/orders/{order_id}/', () => {
  it('200: staff get a list of all orders of the tenant, newest first; GET of one order has the same fields and the history', async () => {
    const own = await service.tenant();
    const sibling = await service.credential(own.tenantId);
    await place(service, tenant);
    const ids = [];
    for (const partner of [own, sibling, own]) {
      const customer = { name: 'Ana', phone: '1' };
      ids.unshift((await place(service, partner, { customer, notes: 'n', delivery_address: 'a' })).body.order_id);
    }
    const { results } = (await list(own)).body;
    const validate = compileSchema(StaffOrder);
    for (const [index, order] of results.entries()) {
      assert.equal(order.order_id, ids[index]);
      assert.deepEqual(Object.keys(order), FIELDS);
      assert.deepEqual(findFaults(validate, order, 'order'), []);
      const one = await service.call('GET', `${STAFF_ORDERS}${ids[index]}/`, { headers: own.owner });
      assert.equal(one.status, 200);
      const { history, ...same } = one.body;
      assert.deepEqual([history.length, same], [1, order]);
      assert.deepEqual(findFaults(validate, one.body, 'order'), []);
    }
    assert.equal(results.length, 3);
  });

  it('200: with ?status= in the URL, staff get only the orders with this status', async () => {
    const own = await service.tenant();
    const orders = await Promise.all(Array.from({ length: 5 }, () => place(service, own)));
    const ids = orders
      .map(({ body }): string => body.order_id)
      .sort()
      .reverse();
    for (const id of ids.filter((_, index) => index === 0 || index === 3)) {
      await setOrderStatus(service, own, id, 'ready');
    }
    const idsWith = async (status: string) =>
      (await list(own, `?status=${status}`)).body.results.map((row: { order_id: string }) => row.order_id);
    assert.deepEqual(await idsWith('ready'), [ids[0], ids[3]]);
    assert.deepEqual(await idsWith('pending'), [ids[1], ids[2], ids[4]]);
    assert.deepEqual(await idsWith('cancelled'), []);
  });

  it('200, 400: limit is at most 100, and at most 500 with open=true', async () => {
    const own = await service.tenant();
    await insertOrders(service, own, 110);
    assert.equal((await list(own, '?open=true&limit=500')).body.results.length, 110);
    for (const query of ['?limit=101', '?open=true&limit=501', '?status=pending&limit=500']) {
      assert.match(faultsOf(await list(own, query))[0] ?? '', /^limit: must be/, query);
    }
  });
});

describe('POST /v1/staff/orders/{order_id}/status/', () => {
  // Tests every change from every status for every order type. Each order first changes from `pending` directly to the status `from`.
  for (const orderType of ORDER_TYPES) {
    for (const from of ORDER_STATUSES.filter(
      (status) => status === 'pending' || mayFollow('pending', status, orderType),
    )) {
      it(`200, 409: a ${orderType} order in status ${from} accepts exactly the statuses that mayFollow allows`, async () => {
        const answers = await Promise.all(
          ORDER_STATUSES.map(async (to) => {
            const { body } = await place(service, tenant, { order_type: orderType });
            if (from !== 'pending') {
              assert.equal((await setOrderStatus(service, tenant, body.order_id, from)).status, 200);
            }
            return { to, order: body, answer: await setOrderStatus(service, tenant, body.order_id, to) };
          }),
        );
        for (const { to, order, answer } of answers) {
          if (mayFollow(from, to, orderType)) {
            assert.equal(answer.status, 200, answer.text);
            assert.deepEqual(Object.keys(answer.body), FIELDS);
            assert.deepEqual([answer.body.order_id, answer.body.status], [order.order_id, to]);
          } else {
            const message = assertError(answer, 409, 'invalid_status_transition');
            assert.match(message, new RegExp(`is ${from}\\b`));
          }
        }
      });
    }
  }

  it('200: owner and staff change the status of an order by JSON, form or multipart, with one event for each change', async () => {
    const { body } = await place(service, tenant);
    const path = `${STAFF_ORDERS}${body.order_id}/status/`;
    const multipart = new FormData();
    multipart.set('status', 'preparing');
    const calls = [
      { headers: tenant.owner, json: { status: 'confirmed' } },
      { headers: tenant.staff, body: multipart },
      { headers: tenant.staff, body: new URLSearchParams({ status: 'ready', unknown: 'x' }) },
    ];
    for (const call of calls) {
      assert.equal((await service.call('POST', path, call)).status, 200);
    }
    const events = (await dumpRows(service, 'event')).filter((row) => row.includes(body.order_id));
    assert.equal(events.length, 3);
    for (const status of ['confirmed', 'preparing', 'ready']) {
      assert.equal(events.filter((row) => row.includes(`""status"":""${status}""`)).length, 1, status);
    }
  });

  it('200, 409: one of ten concurrent changes to the same status on two nodes succeeds, and one event is written', async () => {
    const other = await startService({ beside: service });
    try {
      const { body } = await place(service, tenant);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          setOrderStatus(index % 2 ? service : other, tenant, body.order_id, 'ready'),
        ),
      );
      assert.deepEqual(answers.map(({ status }) => String(status)).sort(), ['200', ...Array<string>(9).fill('409')]);
      const events = (await dumpRows(service, 'event')).filter((row) => row.includes(body.order_id));
      assert.equal(events.length, 1);
    } finally {
      await other.close();
    }
  });

  it('409: a refused change of status writes no event and does not change the order', async () => {
    const { body } = await place(service, tenant);
    await setOrderStatus(service, tenant, body.order_id, 'ready');
    const rows = await dumpRows(service, 'event', 'restaurant_order');
    for (const status of ['ready', 'preparing', 'pending']) {
      assertError(await setOrderStatus(service, tenant, body.order_id, status), 409, 'invalid_status_transition');
    }
    assert.deepEqual(await dumpRows(service, 'event', 'restaurant_order'), rows);
  });
});
