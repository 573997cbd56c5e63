import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import fc from 'fast-check';
import { ORDER_STATUSES } from '#restaurant/orders/order-status.ts';
import { startTestWorker } from '#test/support/events.ts';
import { readToEnd } from '#test/support/feed.ts';
import { orderPath, ORDERS, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, isSignedWith, listDeliveries, register } from '#test/support/webhooks.ts';
import { type Orders, play, statusOf, type Turn } from './model.ts';

/** Number of random lists of turns. */
const RUNS = 6;
const SEED = Date.now() % 1_000_000;

const name = fc.nat(3);
const times = fc.constantFrom(1, 1, 3);
const status = fc.constantFrom(...ORDER_STATUSES);
const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('place' as const),
        name,
        quantity: fc.integer({ min: 1, max: 9 }),
        type: fc.constantFrom('delivery' as const, 'pick_up' as const),
        times,
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('move' as const),
        name,
        status,
        expected: fc.option(status, { freq: 2 }),
        times,
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), name, status, times }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), name }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('receive' as const), accepts: fc.boolean() }) },
  ),
  { minLength: 8, maxLength: 24 },
);

it(`random calls about orders get the answers of the model, and each change of a status is one event, delivered or given up after five attempts, seed ${SEED}`, {
  timeout: 300_000,
}, async () => {
  const first = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  const second = await startService({ beside: first, config: { rateLimitPerMinute: 1_000_000 } });
  const worker = startTestWorker(first);
  try {
    await fc.assert(
      fc.asyncProperty(turns, (all) => playRun([first, second], all)),
      { numRuns: RUNS, seed: SEED },
    );
  } finally {
    await worker.stop(1_000);
    await second.close();
    await first.close();
  }
});

async function playRun(nodes: [TestService, TestService], all: Turn[]): Promise<void> {
  const tenant = await nodes[0].tenant();
  const receiver = await startReceiver();
  try {
    const secret = await register(nodes[0], tenant.partner, receiver.url);
    const orders: Orders = new Map();
    const ids = new Map<number, string>();
    let accepts = true;
    receiver.answerWith(() => (accepts ? 204 : 503));
    for (const turn of all) {
      if (turn.do === 'receive') accepts = turn.accepts;
      const expected = play(orders, turn);
      assert.deepEqual(countEach(await send(nodes, tenant, ids, turn)), countEach(expected), JSON.stringify(turn));
    }
    accepts = true;
    await compareOrders(nodes[1], tenant, orders);
    await compareDeliveries(nodes[1], tenant, { orders, receiver, secret });
  } finally {
    await receiver.close();
  }
}

function countEach(statuses: number[]): Map<number, number> {
  return new Map([...Map.groupBy(statuses, (each) => each)].map(([each, all]) => [each, all.length]));
}

/** Sends a turn to both nodes in turn. @returns the statuses of the answers */
async function send(
  nodes: TestService[],
  { partner, staff }: TestTenant,
  ids: Map<number, string>,
  turn: Turn,
): Promise<number[]> {
  if (turn.do === 'receive') return [];
  const nodeOf = (index: number) => nodes[index % nodes.length] as TestService;
  if (turn.do === 'cancel') {
    return [(await nodeOf(0).call('POST', orderPath(String(turn.name), 'cancel/'), { headers: partner })).status];
  }
  const one = async (index: number, json: object) => {
    const isPlaced = turn.do === 'place';
    const path = isPlaced ? ORDERS : `${STAFF_ORDERS}${ids.get(turn.name) ?? randomUUID()}/status/`;
    const answer = await nodeOf(index).call('POST', path, { headers: isPlaced ? partner : staff, json });
    if (isPlaced) ids.set(turn.name, answer.body.order_id);
    return answer.status;
  };
  const indexes = Array.from({ length: turn.times }, (_, index) => index);
  if (turn.do === 'place') {
    const items = [{ item_id: 'WATER', quantity: turn.quantity }];
    const json = { external_order_id: String(turn.name), order_type: turn.type, items };
    return await Promise.all(indexes.map((index) => one(index, json)));
  }
  if (turn.do === 'move') {
    const json = { status: turn.status, ...(turn.expected === null ? {} : { expected_status: turn.expected }) };
    return await Promise.all(indexes.map((index) => one(index, json)));
  }
  const json = { status: turn.status, request_id: randomUUID() };
  const answers: number[] = [];
  for (const index of indexes) {
    answers.push(await one(index, json));
  }
  return answers;
}

async function compareOrders(node: TestService, { partner, staff }: TestTenant, orders: Orders): Promise<void> {
  for (const [key, order] of orders) {
    const { body } = await node.call('GET', orderPath(String(key)), { headers: partner });
    const { body: stored } = await node.call('GET', `${STAFF_ORDERS}${body.order_id}/`, { headers: staff });
    assert.deepEqual(
      [body.status, stored.order_type, stored.lines[0].quantity],
      [statusOf(order), order.type, order.quantity],
    );
    assert.deepEqual(
      stored.history.map((entry: { status: string }) => entry.status),
      order.statuses,
    );
  }
}

interface Delivered {
  orders: Orders;
  receiver: Receiver;
  secret: string;
}

/** The feed has each change once and in its order. Each event was accepted once, or refused five times. */
async function compareDeliveries(
  node: TestService,
  tenant: TestTenant,
  { orders, receiver, secret }: Delivered,
): Promise<void> {
  const { all: feed } = await readToEnd(node, tenant.partner);
  for (const [key, { statuses }] of orders) {
    const told = feed.filter(({ data }) => data['external_order_id'] === String(key));
    assert.deepEqual(
      told.map(({ data }) => data['status']),
      statuses.slice(1),
    );
  }
  const deliveries = await eventually(
    async () => {
      const listed = await listDeliveries(node, tenant);
      return listed.every(({ status: each }) => each !== 'pending') && listed;
    },
    'end of all deliveries',
    60_000,
  );
  assert.deepEqual(new Set(deliveries.map(({ event_id }) => event_id)), new Set(feed.map(({ event_id }) => event_id)));
  assert.equal(deliveries.length, feed.length);
  for (const { event_id: id, status: outcome, attempts } of deliveries) {
    const sent = receiver.requests.filter(({ headers }) => headers['x-service-event-id'] === id);
    assert.ok(sent.every((request) => isSignedWith(secret, request)));
    const answers = attempts.map(({ http_status }) => http_status);
    const refused = Array.from({ length: answers.length - (outcome === 'delivered' ? 1 : 0) }, () => 503);
    assert.deepEqual(answers, outcome === 'delivered' ? [...refused, 204] : [503, 503, 503, 503, 503]);
    assert.equal(sent.length, answers.length);
  }
}
