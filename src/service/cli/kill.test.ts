import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import {
  cleanUp,
  newCertificateFile,
  newDataDir,
  postgresPid,
  type Serving,
  startServing,
} from '#test/support/command.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { call } from '#test/support/service.ts';
import { eventually, isSignedWith, type ListedDelivery } from '#test/support/webhooks.ts';

const CLIENTS = 6;
const ORDERS_BEFORE_KILL = 120;
const STATUSES = ['confirmed', 'ready'];
/** A lease of the dead process has to run out: 15 s. */
const SETTLE_MS = 60_000;

/** What a client knows of its order: the id it was told, or nothing where the answer never came. */
interface Placed {
  externalId: string;
  orderId: string | null;
  /** Whether every change of its status was answered. */
  isDone: boolean;
}

interface Harness {
  serving: Serving;
  partner: Record<string, string>;
  owner: Record<string, string>;
  history: Placed[];
  isKilled: boolean;
}

describe('kill -9 of a serve under load loses nothing and repeats nothing', { concurrency: true }, () => {
  const receivers: Receiver[] = [];
  after(async () => {
    await cleanUp();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  it('while its PostgreSQL lives on', () => killAndCheck(false));
  it('and of its PostgreSQL too', () => killAndCheck(true));

  async function killAndCheck(alsoPostgres: boolean): Promise<void> {
    const { certificate, path } = await newCertificateFile();
    const receiver = await startReceiver({ certificate });
    receivers.push(receiver);
    const dataDir = await newDataDir();
    const env = {
      DATA_DIR: dataDir,
      NODE_EXTRA_CA_CERTS: path,
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
    };
    const serving = await startServing(['--demo'], { env });
    const harness = await signIn(serving);
    const secret = await registerAt(harness, receiver.url);
    const load = Promise.all(Array.from({ length: CLIENTS }, () => placeAndMove(harness)));
    await eventually(() => acknowledged(harness).length >= ORDERS_BEFORE_KILL, 'load', SETTLE_MS);
    const seen = receiver.requests.length;
    receiver.answerWith(() => 'hang'); // so that deliveries are under way for sure
    await receiver.waitFor(seen + 3, SETTLE_MS);
    const postgres = await postgresPid(dataDir);
    harness.isKilled = true;
    process.kill(serving.pid, 'SIGKILL');
    if (alsoPostgres) {
      process.kill(postgres, 'SIGKILL');
    }
    await Promise.all([serving.ended, load]);
    receiver.answerWith(() => 204);

    harness.serving = await startServing([], { env });
    await settle(harness);
    await checkOrders(harness);
    const deliveries = await allDelivered(harness);
    checkEvents(harness, deliveries);
    checkPosts(receiver, deliveries, secret);
    harness.serving.kill('SIGTERM');
    assert.equal((await harness.serving.ended).code, 0);
  }
});

/** With what `serve --demo` prints. */
async function signIn(serving: Serving): Promise<Harness> {
  const [, email, password] = await serving.prints(/Owner +(\S+)\s+Password +(\S+)/);
  const [, key = '', secret = ''] = await serving.prints(/KEY=(\S+) SECRET=(\S+)/);
  const answer = await call(serving.url, 'POST', '/v1/auth/token/', { json: { email, password } });
  assert.equal(answer.status, 200, answer.text);
  return {
    serving,
    partner: { 'x-api-key': key, 'x-api-secret': secret },
    owner: { authorization: `Bearer ${answer.body.access_token}` },
    history: [],
    isKilled: false,
  };
}

async function registerAt({ serving, partner }: Harness, url: string): Promise<string> {
  const answer = await call(serving.url, 'POST', '/v1/third-party/webhook/', {
    headers: partner,
    json: { webhook_url: url },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.webhook_secret;
}

const acknowledged = ({ history }: Harness) => history.filter(({ orderId }) => orderId !== null);

/** A client: places orders and moves them along until the service is gone in the middle of something. */
async function placeAndMove(harness: Harness): Promise<void> {
  try {
    for (;;) {
      const placed: Placed = { externalId: randomUUID(), orderId: null, isDone: false };
      harness.history.push(placed);
      const answer = await place(harness, placed.externalId);
      assert.equal(answer.status, 201, answer.text);
      placed.orderId = answer.body.order_id;
      for (const status of STATUSES) {
        assert.equal((await move(harness, placed, status)).status, 200);
      }
      placed.isDone = true;
    }
  } catch (error) {
    if (!harness.isKilled) {
      throw error;
    }
  }
}

async function place({ serving, partner }: Harness, externalId: string) {
  return await call(serving.url, 'POST', '/v1/third-party/orders/', {
    headers: partner,
    json: { external_order_id: externalId, items: [{ item_id: 'STARTERS-PAPADOM', quantity: 1 }] },
  });
}

async function move({ serving, owner }: Harness, { orderId }: Placed, status: string) {
  return await call(serving.url, 'POST', `/v1/staff/orders/${orderId}/status/`, { headers: owner, json: { status } });
}

/** Unknown outcomes are asked for again under the same key; every order then goes its whole way. */
async function settle(harness: Harness): Promise<void> {
  for (const placed of harness.history.filter(({ orderId }) => orderId === null)) {
    const answer = await place(harness, placed.externalId);
    assert.ok([200, 201].includes(answer.status), answer.text);
    placed.orderId = answer.body.order_id;
  }
  for (const placed of harness.history.filter(({ isDone }) => !isDone)) {
    for (const status of STATUSES) {
      const answer = await move(harness, placed, status);
      assert.ok([200, 409].includes(answer.status), answer.text);
    }
  }
}

/** Every order is there once, under the id that was told, and has come to the end of its way. */
async function checkOrders({ serving, partner, history }: Harness): Promise<void> {
  const list = await call(serving.url, 'GET', '/v1/third-party/orders/', { headers: partner });
  const found: string[] = list.body.map((order: Record<string, string>) => {
    return `${order['external_order_id']} ${order['order_id']}`;
  });
  assert.deepEqual(found.sort(), history.map(({ externalId, orderId }) => `${externalId} ${orderId}`).sort());
  const open = list.body.filter((order: { status: string }) => order.status !== STATUSES.at(-1));
  assert.deepEqual(open, []);
}

async function allDelivered({ serving, owner }: Harness): Promise<ListedDelivery[]> {
  return await eventually(
    async () => {
      const { body } = await call(serving.url, 'GET', '/v1/staff/webhook-deliveries/', { headers: owner });
      return body.every((delivery: ListedDelivery) => delivery.status === 'delivered') && body;
    },
    'end of all deliveries',
    SETTLE_MS,
  );
}

/** Each order went through each status once, so there are as many events as changes. */
function checkEvents({ history }: Harness, deliveries: ListedDelivery[]): void {
  assert.equal(deliveries.length, history.length * STATUSES.length);
  assert.ok(deliveries.every(({ attempts }) => attempts.length <= 5 && attempts.at(-1)?.http_status === 204));
  const lost = deliveries.filter(({ attempts }) => attempts[0]?.error === 'no_outcome');
  assert.ok(lost.length >= 3, 'the kill met no delivery under way');
}

function checkPosts(receiver: Receiver, deliveries: ListedDelivery[], secret: string): void {
  assert.ok(receiver.requests.every((request) => isSignedWith(secret, request)));
  const posts = Map.groupBy(receiver.requests, (request) => String(request.headers['x-service-event-id']));
  assert.deepEqual([...posts.keys()].sort(), deliveries.map((delivery) => delivery.event_id).sort());
  const told = new Set<string>();
  for (const requests of posts.values()) {
    assert.ok(requests.length <= 5);
    const bodies = new Set(requests.map((request) => request.rawBody.toString()));
    assert.equal(bodies.size, 1);
    const { data } = JSON.parse([...bodies].join(''));
    told.add(`${data.external_order_id} ${data.status}`);
  }
  assert.equal(told.size, posts.size, 'two events about one change');
}
