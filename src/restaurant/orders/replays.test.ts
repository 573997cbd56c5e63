import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dishOf, dumpRows, setOrderStatus, ORDERS, place, STAFF_MENU } from '#test/support/restaurant.ts';
import type { Answer } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';

const { service, tenant } = await useRestaurant();

/** Asserts that the response is a replay: 200 with the stored order in its current status. */
function assertReplay(answer: Answer, first: Answer, status = 'pending'): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(answer.body, { ...first.body, status });
}

describe('POST /v1/third-party/orders/ with an external id used before', () => {
  it('200: a repeated order gets the stored order, marked as a replay, and no row is written', async () => {
    const changes = { external_order_id: 'again' };
    const first = await place(service, tenant, changes);
    const rows = await dumpRows(service, 'restaurant_order', 'event');
    assertReplay(await place(service, tenant, changes), first);
    assertReplay(await place(service, tenant, changes), first);
    assert.deepEqual(await dumpRows(service, 'restaurant_order', 'event'), rows);
  });

  it('200: a repeated external id with other items, even items that are not on the menu, gets the stored order', async () => {
    const external_order_id = 'other body';
    const first = await place(service, tenant, { external_order_id });
    const { addons } = await dishOf(service, tenant, 'PIZZA-1');
    for (const items of [
      [{ item_id: 'WATER', quantity: 5 }],
      [{ item_id: 'NO SUCH DISH', quantity: 1 }],
      [{ item_id: 'PIZZA-1', quantity: 1, variant_id: 'none' }],
      [{ item_id: 'WATER', quantity: 1, addons: [{ addon_id: addons[0]?.id }] }],
      [{ item_id: 'PIZZA-1', quantity: 2_147_483_647 }],
    ]) {
      const again = await place(service, tenant, { external_order_id, items, order_type: 'pick_up', notes: 'other' });
      assertReplay(again, first);
    }
  });

  it('200: a repeated order gets the stored order even if its dish was taken off the menu or has a new price', async () => {
    const own = await service.tenant();
    const changes = { external_order_id: 'menu moved on' };
    const first = await place(service, own, changes);
    const patch = { headers: own.staff, json: { price: '99.00' } };
    assert.equal((await service.call('PATCH', '/v1/staff/dishes/PIZZA-1/', patch)).status, 200);
    assertReplay(await place(service, own, changes), first);
    assert.equal((await service.call('PUT', STAFF_MENU, { headers: own.staff, json: { dishes: [] } })).status, 200);
    assertReplay(await place(service, own, changes), first);
    const order = await service.call('GET', `/v1/staff/orders/${first.body.order_id}/`, { headers: own.staff });
    assert.equal(order.body.total, '10.75');
  });

  it('200: a repeated order gets the stored order with its current status', async () => {
    const changes = { external_order_id: 'moved' };
    const first = await place(service, tenant, changes);
    await setOrderStatus(service, tenant, first.body.order_id, 'preparing');
    assertReplay(await place(service, tenant, changes), first, 'preparing');
    await setOrderStatus(service, tenant, first.body.order_id, 'cancelled');
    assertReplay(await place(service, tenant, changes), first, 'cancelled');
  });

  it('400: a repeated external id with an invalid body is refused, not replayed', async () => {
    const external_order_id = 'bad again';
    await place(service, tenant, { external_order_id });
    const answer = await place(service, tenant, { external_order_id, items: [{ item_id: 'PIZZA-1', quantity: 0 }] });
    assert.deepEqual(faultsOf(answer), ['items.0.quantity: must be at least 1']);
    assert.equal(answer.headers.get('idempotent-replayed'), null);
  });

  it('400, 201: an external id of a refused order can be used for a valid order later', async () => {
    const external_order_id = 'second try';
    const refused = await place(service, tenant, { external_order_id, items: [{ item_id: 'NONE', quantity: 1 }] });
    assertError(refused, 400, 'item_not_found');
    assert.equal((await place(service, tenant, { external_order_id })).status, 201);
  });

  it('201: the same external id of another credential or another tenant places another order', async () => {
    const changes = { external_order_id: 'shared' };
    const others = [await service.credential(tenant.tenantId), await service.tenant()];
    const answers = [await place(service, tenant, changes)];
    for (const other of others) {
      answers.push(await place(service, other, changes));
    }
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201],
    );
    assert.equal(new Set(answers.map(({ body }) => body.order_id)).size, 3);
    assertReplay(await place(service, tenant, changes), answers[0] as Answer);
  });

  it('200: an order that is repeated after the secret of its credential was rotated gets the stored order', async () => {
    const own = await service.tenant();
    const first = await place(service, own, { external_order_id: 'rotated' });
    const path = `/v1/third-party/credentials/${own.credential.id}/rotate/`;
    const { body } = await service.call('POST', path, { headers: own.owner });
    const partner = { 'x-api-key': body.api_key, 'x-api-secret': body.api_secret };
    assertReplay(await place(service, { partner }, { external_order_id: 'rotated' }), first);
  });

  it('201, 200: if two nodes get twenty orders with one external id at the same time, one order is placed, and 19 calls get a replay', async () => {
    const other = await startService({ beside: service });
    try {
      for (const round of [1, 2, 3]) {
        const changes = { external_order_id: `twenty at once ${round}` };
        const count = await countOrders();
        const nodes = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? service : other));
        const answers = await Promise.all(nodes.map((node) => place(node, tenant, changes)));
        const created = answers.filter(({ status }) => status === 201);
        assert.equal(created.length, 1);
        for (const answer of answers.filter(({ status }) => status !== 201)) {
          assertReplay(answer, created[0] as Answer);
        }
        assert.equal(await countOrders(), count + 1);
      }
    } finally {
      await other.close();
    }
  });

  it('201: exactly one order is placed if valid and invalid orders with the same external id arrive at the same time', async () => {
    const external_order_id = 'good and bad';
    const bad = { external_order_id, items: [{ item_id: 'NONE', quantity: 1 }] };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => place(service, tenant, index % 2 ? bad : { external_order_id })),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 1, statuses.join(' '));
    for (const answer of answers.filter(({ status }) => status === 400)) {
      assertError(answer, 400, 'item_not_found');
    }
  });
});

async function countOrders(): Promise<number> {
  return (await service.call('GET', ORDERS, { headers: tenant.partner })).body.length;
}
