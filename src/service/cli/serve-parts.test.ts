import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newCertificateFile, startServing, untilReady } from '#test/support/command.ts';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { call, startService, type TestService } from '#test/support/service.ts';
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

describe('serve on a DATABASE_URL', () => {
  let service: TestService;
  let env: Record<string, string>;

  before(async () => {
    service = await startService();
    env = {
      DATABASE_URL: service.database.url,
      MASTER_KEY: service.masterKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    };
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('serve --only worker delivers the events that serve --only api writes', async (t) => {
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
    api.kill('SIGTERM');
    worker.kill('SIGTERM');
    const ended = [await api.ended, await worker.ended];
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0],
    );
    for (const [index, { stdout }] of ended.entries()) {
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const [where] = lines.filter(({ address }) => address !== undefined);
      const { url } = index === 0 ? api : worker;
      const site = index === 0 ? ` (documentation: ${url}/docs/)` : '';
      assert.deepEqual([where.level, where.address, where.msg], [30, url, `Roomservice listens on ${url}${site}`]);
    }
  });

  it('serve prints its address even if LOG_LEVEL is silent', async () => {
    const serving = await startServing(['--only', 'worker'], { env: { ...env, LOG_LEVEL: 'silent' } });
    serving.kill('SIGTERM');
    const { stdout } = await serving.ended;
    assert.deepEqual(JSON.parse(stdout).address, serving.url);
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
    serving.kill('SIGTERM');
    assert.equal((await serving.ended).code, 0);
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
    worker.kill('SIGTERM');
    assert.equal((await worker.ended).code, 0);
  });

  it('serve --demo creates no demo tenant if DATABASE_URL is set', async () => {
    const serving = await startServing(['--demo'], { env });
    serving.kill('SIGTERM');
    const { code, stdout } = await serving.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /Password|X-API-Secret/);
    const slugs = await service.database.db.selectFrom('tenant').select('slug').where('slug', '=', 'demo').execute();
    assert.deepEqual(slugs, []);
  });
});
