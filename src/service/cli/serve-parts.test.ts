import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import {
  cleanUp,
  newCertificateFile,
  postgresPid,
  refuse,
  startServing,
  stop,
  untilReady,
} from '#test/support/command.ts';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { call, envOf, startService, type TestService } from '#test/support/service.ts';
import { countWaiting } from '#test/support/statements.ts';
import {
  causeEvent,
  eventually,
  isSignedWith,
  moveOrder,
  onlyDelivery,
  placeOrder,
  register,
} from '#test/support/webhooks.ts';
import { inTransaction } from '#platform/db/transaction.ts';

describe('the parts of serve', () => {
  let service: TestService;
  let env: Record<string, string>;

  before(async () => {
    service = await startService();
    env = { ...envOf(service), WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' };
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('serve --only worker delivers the events that serve --only api writes, and each prints its address, even if LOG_LEVEL is silent', async (t) => {
    const trusted = await newCertificateFile();
    const receiver = await startReceiver({ certificate: trusted.certificate });
    t.after(() => receiver.close());
    const workerEnv = { ...env, NODE_EXTRA_CA_CERTS: trusted.path, WEBHOOK_HEADER_BRAND: 'Quay' };
    const [api, worker] = await Promise.all([
      startServing(['--only', 'api'], { env }),
      startServing(['--only', 'worker'], { env: workerEnv }),
    ]);
    const tenant = await service.tenant();
    const remote: TestService = { ...service, call: (...request) => call(api.url, ...request) };
    const secret = await register(remote, tenant.partner, receiver.url);
    await causeEvent(remote, tenant);
    const delivery = await onlyDelivery(remote, tenant, 'delivered');
    assert.equal(delivery.attempts.length, 1);
    assert.equal(receiver.requests.length, 1);
    assert.ok(receiver.requests[0]);
    assert.equal(isSignedWith(secret, receiver.requests[0], 'quay'), true);

    for (const part of [api, worker]) {
      assert.equal((await fetch(`${part.url}/livez`)).status, 200);
      await untilReady(part);
    }
    const refused = await fetch(`${worker.url}/v1/third-party/menu/`, { headers: tenant.partner });
    assert.deepEqual([refused.status, Object.keys((await refused.json()) as object)], [404, ['code', 'message']]);
    for (const [part, site] of [
      [api, ` (documentation: ${api.url}/docs/)`],
      [worker, ''],
    ] as const) {
      const lines = (await stop(part)).stdout.trim().split('\n');
      const [where] = lines.map((line) => JSON.parse(line)).filter(({ address }) => address !== undefined);
      const { url } = part;
      assert.deepEqual([where.level, where.address, where.msg], [30, url, `Roomservice listens on ${url}${site}`]);
    }
    const silent = await startServing(['--only', 'worker'], { env: { ...env, LOG_LEVEL: 'silent' } });
    assert.equal(JSON.parse((await stop(silent)).stdout).address, silent.url);
  });

  it('serve delivers an event while requests hold all database connections that are not reserved for background work', async (t) => {
    const trusted = await newCertificateFile();
    const receiver = await startReceiver({ certificate: trusted.certificate });
    t.after(() => receiver.close());
    const serving = await startServing([], {
      env: { ...env, NODE_EXTRA_CA_CERTS: trusted.path, DATABASE_POOL_SIZE: '5' },
    });
    const remote: TestService = { ...service, call: (...request) => call(serving.url, ...request) };
    const tenant = await service.tenant();
    await register(remote, tenant.partner, receiver.url);
    const busy = await Promise.all(Array.from({ length: 6 }, () => placeOrder(remote, tenant.partner)));
    const { db } = service.database;
    const moves = await inTransaction(db, async (tx) => {
      await tx
        .selectFrom('restaurant_order')
        .select('id')
        .where('tenant_id', '=', tenant.tenantId)
        .forUpdate()
        .execute();
      const waiting = busy.map(({ orderId }) => moveOrder(remote, tenant, orderId, 'confirmed'));
      await eventually(
        async () => (await countWaiting(db)) === 3,
        'three requests that hold all connections for requests',
      );
      await causeEvent(service, tenant);
      await receiver.waitFor(1);
      assert.equal(await countWaiting(db), 3, 'the requests still hold all connections for requests');
      return waiting;
    });
    await Promise.all(moves);
    await stop(serving);
  });

  it('serve --only worker is not ready a few seconds after its database went out of reach, and ready again when it is back', async (t) => {
    const proxy = await startDatabaseProxy(service.database.url, 1);
    t.after(() => proxy.close());
    const worker = await startServing(['--only', 'worker'], { env: { ...env, DATABASE_URL: proxy.url } });
    await untilReady(worker);
    await proxy.refuse();
    const isUnready = async () => (await fetch(`${worker.url}/readyz`)).status === 503;
    // The worker stays ready for 2.5 s after its last successful statement, and reuses the result of a readiness check for 1 s.
    await eventually(isUnready, 'response 503 to /readyz', 10_000);
    await proxy.restore();
    await untilReady(worker);
    await stop(worker);
  });

  it('serve exits 1 with one line that names the variable if PORT or METRICS_PORT is in use, and stops the PostgreSQL that it started', async (t) => {
    const port = await takenPort(t);
    const dataDir = await newMigratedDataDir();
    for (const name of ['PORT', 'METRICS_PORT']) {
      const fault = `The service cannot listen on ${name} ${port} of 127\\.0\\.0\\.1 \\(EADDRINUSE\\): another process listens there`;
      const message = new RegExp(`^roomservice: ${fault}\\. Set another ${name}\\.\n$`);
      await refuse(['serve', '--demo'], { env: { DATA_DIR: dataDir, [name]: String(port) } }, message);
      assert.equal(await postgresPid(dataDir), 0);
    }
  });

  it('serve exits 1 with one line about DATA_DIR if its path cannot be a folder', async () => {
    const message = /^roomservice: DATA_DIR \S+ cannot be used \((?:ENOTDIR|EEXIST)\).*\n$/;
    await refuse(['serve'], { env: { DATA_DIR: '/dev/null/data' } }, message);
  });
});

/** Listens on a free port until the test ends, so that `serve` cannot use this port. @returns the port */
async function takenPort(t: TestContext): Promise<number> {
  const squatter = createServer().listen(0, '127.0.0.1');
  t.after(() => squatter.close());
  await once(squatter, 'listening');
  return (squatter.address() as AddressInfo).port;
}
