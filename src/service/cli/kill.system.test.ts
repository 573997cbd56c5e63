import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { cleanUp, newCertificateFile, postgresPid, type Serving, startServingProgram } from '#test/support/command.ts';
import { entriesOf } from '#test/support/lists.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { call, type TestService } from '#test/support/service.ts';
import { eventually, isSignedWith, type ListedDelivery } from '#test/support/webhooks.ts';

const CLIENTS = 6;
const ORDERS_BEFORE_KILL = 120;
const STATUSES = ['confirmed', 'ready'];
/**
 * Maximum time, in milliseconds, that the test waits for an expected state. It must be longer than 15 s, because the leases of a killed
 * process end after 15 s.
 */
const SETTLE_MS = 60_000;

/** Order that a client has sent. The fields contain only what the client knows from the responses of the service. */
interface Placed {
  externalId: string;
  /** Id of the order, from the response to the call that placed it. Null if no response came. */
  orderId: string | null;
  /** True if the client got a response to every status change of the order. */
  isDone: boolean;
}

interface Harness {
  serving: Serving;
  partner: Record<string, string>;
  owner: Record<string, string>;
  history: Placed[];
  isKilled: boolean;
}

describe('kill -9 of serve under load', { concurrency: true }, () => {
  const receivers: Receiver[] = [];
  after(async () => {
    await cleanUp();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  it('after kill -9 of serve under load, each order is stored once, and each status change has one delivered event', () =>
    killAndCheck(false));
  it('after kill -9 of serve and PostgreSQL under load, each order is stored once, and each status change has one delivered event', () =>
    killAndCheck(true));

  async function killAndCheck(alsoPostgres: boolean): Promise<void> {
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
    const serving = await startServingProgram(['--demo'], { env });
    const harness = await signIn(serving);
    const secret = await registerAt(harness, receiver.url);
    const load = Promise.all(Array.from({ length: CLIENTS }, () => placeAndMove(harness)));
    await eventually(() => acknowledged(harness).length >= ORDERS_BEFORE_KILL, 'load', SETTLE_MS);
    const seen = receiver.requests.length;
    receiver.answerWith(() => 'hang'); // From now on the receiver sends no response, so deliveries are under way when serve is killed.
    await receiver.waitFor(seen + 3, SETTLE_MS);
    const postgres = await postgresPid(dataDir);
    harness.isKilled = true;
    process.kill(serving.pid, 'SIGKILL');
    if (alsoPostgres) {
      process.kill(postgres, 'SIGKILL');
    }
    await Promise.all([serving.ended, load]);
    receiver.answerWith(() => 204);

    harness.serving = await startServingProgram([], { env });
    await settle(harness);
    await checkOrders(harness);
    const deliveries = await allDelivered(harness);
    checkEvents(harness, deliveries);
    checkPosts(receiver, deliveries, secret);
    harness.serving.kill('SIGTERM');
    assert.equal((await harness.serving.ended).code, 0);
  }
});

/** Signs in with the e-mail and the password of the owner that `serve --demo` prints, and reads the printed credential of the partner. */
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

/** Acts as a client: places orders and changes their status until a call fails because the service was killed. */
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

/**
 * Repeats the call that places an order, with the same external id, for each order without a response. Then repeats all status changes of
 * each order whose `isDone` is false.
 */
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

/** Checks that every order is stored once, with the id from its response, and that its status is the last of `STATUSES`. */
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
      const node = { call: (...request: Parameters<TestService['call']>) => call(serving.url, ...request) };
      const deliveries = await entriesOf(node, '/v1/staff/webhook-deliveries/', owner);
      return deliveries.every((delivery: ListedDelivery) => delivery.status === 'delivered') && deliveries;
    },
    'end of all deliveries',
    SETTLE_MS,
  );
}

/** Checks that each change of status has caused one event, and that the receiver has accepted each event. */
function checkEvents({ history }: Harness, deliveries: ListedDelivery[]): void {
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
