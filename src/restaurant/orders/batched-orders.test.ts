import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { startCommitProxy } from '#test/support/lost-commit.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { sampleMenu } from '#test/support/tenants.ts';
import { countWaiting, openRecorded } from '#test/support/statements.ts';
import { eventually } from '#test/support/webhooks.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { createMenuReader, type ReadListedMenu } from '../menu/menu.ts';
import { createTransactionWithEvents } from '#webhooks/events/events.ts';
import { Orders } from './orders.ts';
import { showOrder } from './staff-orders.ts';
import type { OrderCreate } from './schema.ts';
import type { StaffOrder } from './staff-schema.ts';
import * as store from './store.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

const isCluster = await isTestCluster();

const service = await useService();
const { db, statementsOf } = openRecorded(service.database.url, 4);
const tenants = await Promise.all(['1.00', '2.00', '3.00'].map(tenantWithPizzaAt));
/** Six callers. Each of three tenants has two callers, with one credential each. Each tenant has a different price for a pizza. */
const callers = (await Promise.all(tenants.map(callersOf))).flat();
const readListedMenu = await preloadMenus(callers);
const orders = ordersOn(db);
after(() => db.destroy());

function tenantWithPizzaAt(price: string): Promise<TestTenant> {
  const menu = { ...sampleMenu(), dishes: [{ sku: 'PIZZA', name: 'Pizza', price, category: 'Pizza' }] };
  return service.tenant({ menu });
}

async function callersOf({ tenantId, credential }: TestTenant): Promise<Caller[]> {
  const other = await service.credential(tenantId);
  const credentialIds = [credential.id, other.credential.id];
  return credentialIds.map((credentialId) => ({ tenantId, credentialId, features: ['restaurant'], currency: 'EUR' }));
}

/**
 * Loads the menus of the callers, and returns a function that returns these menus without reading the database. So the inserts of
 * concurrent orders begin at the same time.
 */
async function preloadMenus(readers: Caller[]): Promise<ReadListedMenu> {
  const direct = service.database.db;
  const read = createMenuReader({ db: direct, caches: NO_CACHES });
  const menus = new Map(
    await Promise.all(readers.map(async (caller) => [caller.tenantId, await read(caller)] as const)),
  );
  return async ({ tenantId }) => {
    const menu = menus.get(tenantId);
    assert.ok(menu);
    return menu;
  };
}

function ordersOn(database: Database): Orders {
  return new Orders({
    db: database,
    readListedMenu,
    refuseIfClosed: async () => {},
    transactionWithEvents: createTransactionWithEvents(database, null),
  });
}

function pizza(externalOrderId: string, changes: Partial<OrderCreate> = {}): OrderCreate {
  return { external_order_id: externalOrderId, items: [{ item_id: 'PIZZA', quantity: 1 }], ...changes };
}

function callerAt(index: number): Caller {
  const caller = callers[index % callers.length];
  assert.ok(caller);
  return caller;
}

describe('concurrent orders', () => {
  it('concurrent orders of several tenants are inserted by one statement, or on a cluster by one for each tenant, and each order keeps its own data', async () => {
    const inputs = Array.from({ length: 50 }, (_, index) =>
      pizza(`${index % 9} of ${index}`, {
        notes: `"note" \\ {${index}}, é🍕\n`,
        items: [{ item_id: 'PIZZA', quantity: index + 1 }],
      }),
    );
    const sent = await statementsOf(async () => {
      const placed = await Promise.all(inputs.map((input, index) => orders.place(callerAt(index), input)));
      for (const [index, { order, isReplayed }] of placed.entries()) {
        const caller = callerAt(index);
        const { order_id, external_order_id } = order;
        assert.deepEqual([external_order_id, isReplayed], [inputs[index]?.external_order_id, false]);
        const stored = JSON.parse(await showOrder(service.database.db, caller.tenantId, order_id)) as StaffOrder;
        const price = Math.floor((index % callers.length) / 2) + 1;
        assert.deepEqual(
          [stored.external_order_id, stored.notes, stored.total, stored.lines[0]?.quantity],
          [external_order_id, inputs[index]?.notes, `${price * (index + 1)}.00`, index + 1],
        );
        assert.deepEqual(await orders.find(caller, external_order_id), order);
      }
    });
    assert.equal(sent.filter((text) => /insert/i.test(text)).length, isCluster ? 3 : 1);
  });

  it('if concurrent orders have the same external id, one order is placed, and the other calls return this order as a replay', async () => {
    const stored = await orders.place(callerAt(0), pizza('stored'));
    const ids = ['stored', 'new', 'twice', 'twice', 'twice'];
    const placed = await Promise.all(ids.map((id) => orders.place(callerAt(0), pizza(id))));
    assert.deepEqual(
      placed.map(({ isReplayed }) => isReplayed),
      [true, false, false, true, true],
    );
    assert.deepEqual(placed[0]?.order, stored.order);
    assert.equal(new Set(placed.slice(2).map(({ order }) => order.order_id)).size, 1);
    const elsewhere = await Promise.all([1, 2].map((index) => orders.place(callerAt(index), pizza('stored'))));
    assert.deepEqual(
      elsewhere.map(({ isReplayed }) => isReplayed),
      [false, false],
      'the same id of another credential or tenant is another order',
    );
  });

  it('if the database refuses one order of a batch, the other orders of the batch are placed', async () => {
    const ended = await Promise.allSettled(
      ['good 1', 'bad', 'good 2'].map((id) =>
        orders.place(callerAt(0), pizza(id, id === 'bad' ? { notes: '\u0000' } : {})),
      ),
    );
    assert.deepEqual(
      ended.map((each) => each.status === 'fulfilled' && [each.value.order.external_order_id, each.value.isReplayed]),
      [['good 1', false], false, ['good 2', false]],
    );
    await assert.rejects(orders.find(callerAt(0), 'bad'), { code: 'order_not_found' });
  });

  it('a large order is inserted by its own statement, and concurrent small orders by one common statement', async () => {
    const large = pizza('large', { items: Array.from({ length: 500 }, () => ({ item_id: 'PIZZA', quantity: 1 })) });
    const sent = await statementsOf(() =>
      Promise.all([large, pizza('small 1'), pizza('small 2')].map((input) => orders.place(callerAt(0), input))),
    );
    assert.equal(sent.length, 2);
  });

  it('the lines of an order keep their JSON text, with its spaces and repeated keys', async () => {
    const lines = '[ {"b": 1, "a": "\\"é🍕\\n", "b": 1.50} ]';
    const order = { ...newOrder(callerAt(0), 'text of lines'), lines };
    await store.insertOrders(db, [order]);
    const [stored] = await store.readWhole(db, order.tenant_id, [order.id]);
    assert.equal(stored?.lines, lines);
  });

  it('if the database response to the insert of a batch is lost, the orders of the batch are reported as new, not as replays', async () => {
    const loser = await startCommitProxy(service.database.url);
    try {
      const placing = ordersOn(loser.db);
      await placing.place(callerAt(0), pizza('first of the connection'));
      loser.dropNextCommitResponse();
      // `loser` is a proxy that drops the response to the next message with the word "commit". Orders are inserted without a COMMIT
      // statement. So the external ids of the next two orders contain this word. One INSERT writes both orders, and the proxy drops the
      // response to this INSERT.
      const placed = await Promise.all(['commit 1', 'commit 2'].map((id) => placing.place(callerAt(0), pizza(id))));
      assert.equal(loser.lostCount, 1);
      for (const { order, isReplayed } of placed) {
        assert.equal(isReplayed, false);
        assert.deepEqual(await orders.find(callerAt(0), order.external_order_id), order);
      }
    } finally {
      await loser.close();
    }
  });

  it('two concurrent statements that insert the same orders in opposite sequence do not deadlock', async () => {
    const rows = () => ['a', 'b', 'c'].map((name) => newOrder(callerAt(0), `crossing ${name}`));
    const [, middle] = rows();
    assert.ok(middle);
    const rollback = new Error('rolled back by the test');
    let both: Promise<boolean[][]> = Promise.resolve([]);
    const blocking = inTransaction(service.database.db, async (tx) => {
      await store.insertOrders(tx, [middle]);
      both = Promise.all([store.insertOrders(db, rows()), store.insertOrders(db, rows().reverse())]);
      await Promise.race([
        both,
        eventually(
          async () => (await countWaiting(service.database.db)) === 2,
          'both inserts wait for the order in the middle',
        ),
      ]);
      throw rollback;
    });
    await assert.rejects(blocking, rollback);
    const outcomes = (await both).map((inserted) => inserted.join());
    assert.deepEqual(outcomes.sort(), ['false,false,false', 'true,true,true']);
  });
});

describe('concurrent look-ups of orders', () => {
  it('concurrent look-ups of the same external ids use one statement, and each credential finds only its own orders', {
    skip: isCluster && 'on a cluster, each tenant has statements of its own',
  }, async () => {
    const ids = ['x', 'y', '"', 'é🍕', 'X'];
    const placed = new Map<string, string>();
    for (const [index, caller] of callers.entries()) {
      for (const id of ids.slice(index % 2)) {
        placed.set(`${index} ${id}`, (await orders.place(caller, pizza(id))).order.order_id);
      }
    }
    const keys = callers.flatMap((caller, index) => ids.map((id) => ({ name: `${index} ${id}`, caller, id })));
    const sent = await statementsOf(async () => {
      const found = await Promise.allSettled(keys.map(({ caller, id }) => orders.find(caller, id)));
      assert.deepEqual(
        found.map((each) => (each.status === 'fulfilled' ? each.value.order_id : each.reason.code)),
        keys.map(({ name }) => placed.get(name) ?? 'order_not_found'),
      );
    });
    assert.equal(sent.length, 1);
  });

  it('a look-up sees a status change that ended before the look-up began, even if earlier look-ups are under way', async () => {
    const { order } = await orders.place(callerAt(0), pizza('moving'));
    for (const status of ['confirmed', 'preparing', 'ready'] as const) {
      const others = Array.from({ length: 10 }, () => orders.find(callerAt(0), 'moving'));
      await orders.moveAlong(callerAt(0).tenantId, order.order_id, status, { type: 'operator', id: null });
      assert.equal((await orders.find(callerAt(0), 'moving')).status, status);
      await Promise.all(others);
    }
  });
});

function newOrder({ tenantId, credentialId, currency }: Caller, externalOrderId: string): store.NewOrder {
  return {
    tenant_id: tenantId,
    id: newId(),
    credential_id: credentialId,
    external_order_id: externalOrderId,
    status: 'pending',
    order_type: 'delivery',
    lines: '[]',
    total: '0.00',
    currency,
    created_at: new Date(),
    status_changed_at: new Date(),
  };
}
