import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { cleanUp, newCertificateFile, postgresPid, startServingProgram, stop, succeed } from '#test/support/command.ts';
import { connectWith, type DemoClient } from '#test/support/filled-data-dir.ts';
import { entriesOf } from '#test/support/lists.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { eventually, isSignedWith, type ListedDelivery } from '#test/support/webhooks.ts';

const CLIENTS = 6;
const ORDERS_BEFORE_KILL = 120;
const STATUSES = ['confirmed', 'ready'];
/** Longest wait for a state, in milliseconds. It is longer than 15 s, because the leases of a killed process end after 15 s. */
const SETTLE_MS = 60_000;

/** Order that a client has sent. The fields contain only what the client knows from the responses of the service. */
interface Placed {
  externalId: string;
  /** Id of the order, from the response to the call that placed it. Null if no response came. */
  orderId: string | null;
  /** True if the client got a response to every status change of the order. */
  isDone: boolean;
}

const receivers: Receiver[] = [];
after(async () => {
  await cleanUp();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

const place = (client: DemoClient, externalId: string) =>
  client.partner('POST', '/v1/third-party/orders/', {
    external_order_id: externalId,
    items: [{ item_id: 'STARTERS-PAPADOM', quantity: 1 }],
  });

const move = (client: DemoClient, { orderId }: Placed, status: string) =>
  client.owner('POST', `/v1/staff/orders/${orderId}/status/`, { status });

describe('kill -9 of serve under load', { concurrency: true }, () => {
  for (const [what, killsPostgres] of [
    ['serve', false],
    ['serve and PostgreSQL', true],
  ] as const) {
    it(`after kill -9 of ${what} under load, each order is stored once, and each status change has one delivered event`, async () => {
      const { certificate, path } = await newCertificateFile();
      const receiver = await startReceiver({ certificate });
      receivers.push(receiver);
      const dataDir = await newMigratedDataDir();
      const env = {
        DATA_DIR: dataDir,
        NODE_EXTRA_CA_CERTS: path,
        WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
        RATE_LIMIT_PER_MINUTE: '1000000',
        LOG_LEVEL: 'warn',
      };
      const connect = connectWith(JSON.parse((await succeed(['demo', '--json'], { env })).stdout));
      const killed = await startServingProgram([], { env });
      const client = await connect(killed.url);
      const registered = await client.partner('POST', '/v1/third-party/webhook/', { webhook_url: receiver.url });
      const history: Placed[] = [];
      let isKilled = false;
      const load = Promise.all(Array.from({ length: CLIENTS }, () => placeAndMove(client, history, () => isKilled)));
      const acknowledged = () => history.filter(({ orderId }) => orderId !== null);
      await eventually(() => acknowledged().length >= ORDERS_BEFORE_KILL, 'load', SETTLE_MS);
      const seen = receiver.requests.length;
      receiver.answerWith(() => 'hang'); // From now on the receiver sends no response, so deliveries are under way when serve is killed.
      await receiver.waitFor(seen + 3, SETTLE_MS);
      const postgres = await postgresPid(dataDir);
      isKilled = true;
      process.kill(killed.pid, 'SIGKILL');
      if (killsPostgres) {
        process.kill(postgres, 'SIGKILL');
      }
      await Promise.all([killed.ended, load]);
      receiver.answerWith(() => 204);

      const serving = await startServingProgram([], { env });
      const again = await connect(serving.url);
      await settle(again, history);
      await checkOrders(again, history);
      const deliveries = await allDelivered(again);
      checkEvents(history, deliveries);
      checkPosts(receiver, deliveries, registered.body.webhook_secret);
      await stop(serving);
    });
  }
});

/** Acts as a client: places orders and changes their status until a call fails because the service was killed. */
async function placeAndMove(client: DemoClient, history: Placed[], isKilled: () => boolean): Promise<void> {
  try {
    for (;;) {
      const placed: Placed = { externalId: randomUUID(), orderId: null, isDone: false };
      history.push(placed);
      const answer = await place(client, placed.externalId);
      assert.equal(answer.status, 201, answer.text);
      placed.orderId = answer.body.order_id;
      for (const status of STATUSES) {
        assert.equal((await move(client, placed, status)).status, 200);
      }
      placed.isDone = true;
    }
  } catch (error) {
    if (!isKilled()) {
      throw error;
    }
  }
}

/**
 * Repeats the call that places an order, with the same external id, for each order without a response. Then repeats all status changes of
 * each order whose `isDone` is false.
 */
async function settle(client: DemoClient, history: Placed[]): Promise<void> {
  for (const placed of history.filter(({ orderId }) => orderId === null)) {
    const answer = await place(client, placed.externalId);
    assert.ok([200, 201].includes(answer.status), answer.text);
    placed.orderId = answer.body.order_id;
  }
  for (const placed of history.filter(({ isDone }) => !isDone)) {
    for (const status of STATUSES) {
      const answer = await move(client, placed, status);
      assert.ok([200, 409].includes(answer.status), answer.text);
    }
  }
}

/** Checks that every order is stored once, with the id from its response, and that its status is the last of `STATUSES`. */
async function checkOrders({ partner }: DemoClient, history: Placed[]): Promise<void> {
  const { body } = await partner('GET', '/v1/third-party/orders/');
  const found = (body as Record<string, string>[]).map((order) =>
    [order['external_order_id'], order['order_id'], order['status']].join(' '),
  );
  const expected = history.map(({ externalId, orderId }) => [externalId, orderId, STATUSES.at(-1)].join(' '));
  assert.deepEqual(found.sort(), expected.sort());
}

async function allDelivered({ owner }: DemoClient): Promise<ListedDelivery[]> {
  const node = { call: (method: string, path: string) => owner(method, path) };
  return await eventually(
    async () => {
      const deliveries: ListedDelivery[] = await entriesOf(node, '/v1/staff/webhook-deliveries/', {});
      return deliveries.every(({ status }) => status === 'delivered') && deliveries;
    },
    'end of all deliveries',
    SETTLE_MS,
  );
}

/** Checks that each change of status has caused one event, and that the receiver has accepted each event. */
function checkEvents(history: Placed[], deliveries: ListedDelivery[]): void {
  assert.equal(deliveries.length, history.length * STATUSES.length);
  assert.ok(deliveries.every(({ attempts }) => attempts.length <= 5 && attempts.at(-1)?.http_status === 204));
  const lost = deliveries.filter(({ attempts }) => attempts[0]?.error === 'no_outcome');
  assert.ok(lost.length >= 3, 'deliveries were under way at the kill');
}

function checkPosts(receiver: Receiver, deliveries: ListedDelivery[], secret: string): void {
  assert.ok(receiver.requests.every((request) => isSignedWith(secret, request)));
  const posts = Map.groupBy(receiver.requests, (request) => String(request.headers['x-service-event-id']));
  assert.deepEqual([...posts.keys()].sort(), deliveries.map((delivery) => delivery.event_id).sort());
  const reported = new Set<string>();
  for (const requests of posts.values()) {
    assert.ok(requests.length <= 5);
    const bodies = new Set(requests.map((request) => request.rawBody.toString()));
    assert.equal(bodies.size, 1);
    const { data } = JSON.parse([...bodies].join(''));
    reported.add(`${data.external_order_id} ${data.status}`);
  }
  assert.equal(reported.size, posts.size, 'each change has one event');
}
