import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { cleanUp, newCertificateFile, postgresPid, type Serving, startServingProgram } from '#test/support/command.ts';
import { isRunning } from '#test/support/process.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { envOf, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, eventually, listDeliveries, placeOrder, register } from '#test/support/webhooks.ts';

/** Time limit of a stop after SIGTERM or SIGINT, in milliseconds (docs/guarantees/operations.md). */
const STOP_MS = 15_000;
/** Number of orders in a list that is larger than the socket buffers, so that the service sends it only as fast as the client reads. */
const ORDERS = 500;
const NOTE_LENGTH = 20_000;

// If all tests ran together on a machine with two processors, their services would exceed their time limits.
describe('serve that is told to stop', { concurrency: 4 }, () => {
  let service: TestService;
  let env: Record<string, string>;
  let certificateFile: Awaited<ReturnType<typeof newCertificateFile>>;
  const receivers: Receiver[] = [];
  const services: TestService[] = [];

  before(async () => {
    service = await newService();
    certificateFile = await newCertificateFile();
    env = envOf(service);
  });
  after(async () => {
    await cleanUp();
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await Promise.all(services.map((one) => one.close()));
  });

  async function newService(): Promise<TestService> {
    const made = await startService();
    services.push(made);
    return made;
  }

  /** Asserts that a `serve` ends in time and exits with 0. @returns the milliseconds from the signal to the end */
  async function stop(serving: Serving, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    const startedAt = performance.now();
    serving.kill(signal);
    const { code } = await serving.ended;
    const tookMs = performance.now() - startedAt;
    assert.equal(code, 0, serving.output());
    assert.ok(tookMs < STOP_MS, `took ${tookMs} ms`);
    return tookMs;
  }

  async function tenantWithManyOrders(): Promise<TestTenant> {
    const tenant = await service.tenant();
    await placeOrder(service, tenant.partner);
    await sql`
      INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, notes, lines, total, currency,
        created_at, status_changed_at)
      SELECT tenant_id, gen_random_uuid(), credential_id, 'copy ' || number, status, order_type, repeat('x', ${NOTE_LENGTH}), lines, total,
        currency, created_at, status_changed_at
      FROM restaurant_order, generate_series(2, ${ORDERS}) AS number WHERE tenant_id = ${tenant.tenantId}
    `.execute(service.database.db);
    return tenant;
  }

  /** Requests the list of orders as staff. @returns the response, whose body is not read yet */
  async function beginToRead(serving: Serving, tenant: TestTenant): Promise<IncomingMessage> {
    const request = get(`${serving.url}/v1/staff/orders/?open=true&limit=${ORDERS}`, {
      headers: { ...tenant.staff, connection: 'keep-alive' },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 200);
    return response;
  }

  /** Starts a `serve` with a database of its own, and lets it begin the delivery of one event to a receiver. */
  async function beginToDeliver(answer: Parameters<Receiver['answerWith']>[0]) {
    const receiver = await startReceiver({ certificate: certificateFile.certificate, answer });
    receivers.push(receiver);
    const own = await newService();
    const serving = await startServingProgram([], {
      env: {
        ...envOf(own),
        NODE_EXTRA_CA_CERTS: certificateFile.path,
        WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      },
    });
    const tenant = await own.tenant();
    await register(own, tenant.partner, receiver.url);
    await causeEvent(own, tenant);
    await receiver.waitFor(1);
    return { serving, receiver, deliveries: () => listDeliveries(own, tenant) };
  }

  /** Measures the milliseconds until `serve` closes a connection. A stall of the machine of more than a second does not count. */
  function timeUntilCut(open: Socket): Promise<number> {
    const delays = monitorEventLoopDelay();
    delays.enable();
    const startedAt = performance.now();
    open.resume();
    return once(open, 'close').then(() => {
      delays.disable();
      const stallMs = delays.max / 1e6;
      return performance.now() - startedAt - (stallMs > 1_000 ? stallMs : 0);
    });
  }

  async function refused({ url }: Serving): Promise<void> {
    const { hostname, port } = new URL(url);
    const isRefused = async () => {
      const socket = connect(Number(port), hostname);
      const outcome = await once(socket, 'connect').then(
        () => false,
        () => true,
      );
      socket.destroy();
      return outcome;
    };
    await eventually(isRefused, 'refused connection');
  }

  it('a stopping serve refuses new connections, but sends the whole response to a client that reads it slowly', async () => {
    const tenant = await tenantWithManyOrders();
    const serving = await startServingProgram(['--only', 'api'], { env });
    const response = await beginToRead(serving, tenant);
    const stopped = stop(serving);
    await refused(serving);
    const chunks: Buffer[] = await response.toArray();
    const { results } = JSON.parse(Buffer.concat(chunks).toString()) as { results: { order_id: string }[] };
    assert.equal(new Set(results.map((order) => order.order_id)).size, ORDERS);
    await stopped;
  });

  it('503: during STOP_GRACE, a stopping serve is not ready, but serves calls; after it, each response closes its connection', async (t) => {
    const tenant = await service.tenant();
    const serving = await startServingProgram(['--only', 'api'], {
      env: { ...env, STOP_GRACE: '2', RATE_LIMIT_PER_MINUTE: '100000' },
    });
    const [agent, other] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    t.after(() => [agent, other].forEach((each) => each.destroy()));
    const ask = async (path: string, by = agent) => {
      const request = get(serving.url + path, { agent: by, headers: tenant.partner });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await response.toArray();
      return [response.statusCode, response.headers.connection, request.reusedSocket];
    };
    assert.deepEqual(await ask('/livez'), [200, 'keep-alive', false]);
    const startedAt = performance.now();
    const stopped = stop(serving);
    await serving.prints(/"msg":"stopping"/);
    assert.deepEqual(await ask('/readyz'), [503, 'keep-alive', true]);
    assert.deepEqual(await ask('/livez', other), [200, 'keep-alive', false]);
    while (performance.now() - startedAt < 1_500) {
      assert.deepEqual(await ask('/v1/third-party/menu/'), [200, 'keep-alive', true]);
    }
    await refused(serving);
    assert.ok(performance.now() - startedAt > 2_000, 'the port closed too early');
    assert.deepEqual(await ask('/v1/third-party/menu/'), [200, 'close', true]);
    const tookMs = await stopped;
    assert.ok(tookMs < 8_000, `took ${tookMs} ms, as long as if a response were under way`);
  });

  it('a stopping serve does not wait for idle connections, even if they never had a request', async (t) => {
    const serving = await startServingProgram(['--only', 'api'], { env });
    const { hostname, port } = new URL(serving.url);
    const unused = connect(Number(port), hostname);
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const [response] = (await once(get(`${serving.url}/livez`, { agent }), 'response')) as [IncomingMessage];
    await response.toArray();
    const cut = timeUntilCut(unused);
    await stop(serving);
    const cutAfterMs = await cut;
    assert.ok(cutAfterMs < 3_000, `cut after ${cutAfterMs} ms`);
  });

  it('a stopping serve exits within 15 s even if a client never reads the rest of its response', async () => {
    const tenant = await tenantWithManyOrders();
    const serving = await startServingProgram(['--only', 'api'], { env });
    const response = await beginToRead(serving, tenant);
    response.on('error', () => {});
    await stop(serving);
  });

  it('a stopping serve waits until a delivery under way has ended, and records its outcome', async () => {
    const { serving, receiver, deliveries } = await beginToDeliver(() => ({ status: 204, afterMs: 1_500 }));
    await stop(serving);
    const [delivery] = await deliveries();
    assert.deepEqual([delivery?.status, delivery?.attempts.length], ['delivered', 1]);
    assert.equal(receiver.requests.length, 1);
  });

  it('if a receiver sends no response, a stopping serve waits until the time limit of the attempt, and records a timeout', async () => {
    const { serving, deliveries } = await beginToDeliver(() => 'hang');
    // The attempt ends 10 s after its beginning, and a stop waits at most 11 s for it. This pause leaves the stop 5 s for a busy machine. It
    // does not make the test longer.
    await sleep(4_000);
    await stop(serving);
    const [delivery] = await deliveries();
    assert.equal(delivery?.status, 'pending');
    assert.deepEqual(
      delivery?.attempts.map(({ error }) => error),
      ['timeout'],
    );
  });

  it('serve exits 0 and stops its PostgreSQL if it gets SIGINT twice, from the terminal and from its parent process', async () => {
    const dataDir = await newMigratedDataDir();
    const serving = await startServingProgram([], { env: { DATA_DIR: dataDir }, detached: true });
    const pid = await postgresPid(dataDir);
    assert.ok(isRunning(pid));
    process.kill(-serving.pid, 'SIGINT');
    await stop(serving, 'SIGINT');
    assert.equal(isRunning(pid), false);
    assert.equal(await postgresPid(dataDir), 0);
  });
});
