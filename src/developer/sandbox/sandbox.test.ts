import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '#platform/db/database.ts';
import { startDatabaseProxy } from '#test/support/database-proxy.ts';
import { insertOrders } from '#test/support/orders.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { eventsOfSubject, startSandboxWorker } from '#test/support/sandbox.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { testLayout } from '#test/support/test-cluster.ts';
import { eventually, placeOrder } from '#test/support/webhooks.ts';

const DAY_MS = 86_400_000;
/** Longest time in milliseconds that a test waits for an expected change. It is long, because the machine may be busy. */
const SETTLE_MS = 60_000;

describe('sandbox', { concurrency: true }, () => {
  let service: TestService;
  before(async () => {
    service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
  });
  after(() => service.close());

  const statusOf = async ({ partner }: TestTenant, externalId: string): Promise<string> =>
    (await service.call('GET', orderPath(externalId), { headers: partner })).body.status;
  const reaches = (tenant: TestTenant, externalId: string, status: string) =>
    eventually(async () => (await statusOf(tenant, externalId)) === status, `order that is ${status}`, SETTLE_MS);
  const change = (tenant: TestTenant, changes: { created_at?: Date; lines?: string }) =>
    service.database.db.updateTable('restaurant_order').set(changes).where('tenant_id', '=', tenant.tenantId).execute();

  it('if an order is three days old when the sandbox starts, the sandbox gives it one status after the other, with more than 0.9 s between two statuses', async (t) => {
    const tenant = await service.tenant();
    const { externalId } = await placeOrder(service, tenant.partner);
    await change(tenant, { created_at: new Date(Date.now() - 3 * DAY_MS) });
    startSandboxWorker(t, service, tenant, 1);
    await reaches(tenant, externalId, 'completed');
    const events = await eventsOfSubject(service, tenant, externalId);
    assert.deepEqual(
      events.map(({ data }) => data['status']),
      ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'],
    );
    const times = events.map(({ occurred_at }) => Date.parse(occurred_at));
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    assert.ok(
      waits.every((waitMs) => waitMs > 900),
      `${waits.join()} ms`,
    );
  });

  it('at speed 1 the sandbox does not change an order during the first two seconds after it was placed', async (t) => {
    const tenant = await service.tenant();
    const placedAfterMs = Date.now();
    const { externalId } = await placeOrder(service, tenant.partner);
    startSandboxWorker(t, service, tenant, 1);
    await sleep(2_500);
    // On a busy machine, the events are read so late that the order may already be confirmed. So the times of the events decide.
    const events = await eventsOfSubject(service, tenant, externalId);
    const early = events.filter(({ occurred_at }) => Date.parse(occurred_at) < placedAfterMs + 2_000);
    assert.deepEqual(early, []);
  });

  it('the sandbox completes an order even if 180 older orders stay pending', async (t) => {
    const tenant = await service.tenant();
    await insertOrders(service, tenant, 180);
    await change(tenant, { lines: JSON.stringify([{ sku: 'SANDBOX-UNANSWERED', quantity: 1 }]) });
    const { externalId } = await placeOrder(service, tenant.partner);
    startSandboxWorker(t, service, tenant, 1_000);
    await reaches(tenant, externalId, 'completed');
    assert.equal(await statusOf(tenant, 'N-1'), 'pending');
  });

  it('if a sandbox starts before its tenant exists, it completes orders as soon as the tenant exists', async (t) => {
    const slug = 'made-later';
    startSandboxWorker(t, service, { document: { slug } }, 10_000);
    await sleep(300);
    const tenant = await service.tenant({ slug });
    const { externalId } = await placeOrder(service, tenant.partner);
    await reaches(tenant, externalId, 'completed');
  });

  it('the sandbox logs one warning while its database cannot be reached, and continues when the database is back', async (t) => {
    const tenant = await service.tenant();
    const proxy = await startDatabaseProxy(service.database.url, 4);
    t.after(() => proxy.close());
    const lines: string[] = [];
    startSandboxWorker(t, service, tenant, 10_000, { db: proxy.db, onLog: (line) => lines.push(line) });
    await eventually(
      () => lines.some((line) => line.includes('the sandbox changes the status')),
      'log line of the running sandbox',
      SETTLE_MS,
    );
    const warnings = () => lines.filter((line) => line.includes('the sandbox could not change'));
    await proxy.refuse();
    await eventually(() => warnings().length > 0, 'warning of the sandbox', SETTLE_MS);
    await sleep(1_500); // In this time, the sandbox tries again several times.
    const { externalId } = await placeOrder(service, tenant.partner);
    assert.equal(await statusOf(tenant, externalId), 'pending');
    assert.equal(warnings().length, 1);
    await proxy.restore();
    await reaches(tenant, externalId, 'completed');
    assert.equal(warnings().length, 1);
  });

  it('a sandbox that is stopped while it changes orders ends after the change that is under way, and writes no event afterwards', async (t) => {
    const tenant = await service.tenant();
    await insertOrders(service, tenant, 500);
    let changed = 0;
    const db = createDatabase({
      url: service.database.url,
      poolSize: 4,
      layout: await testLayout(),
      log: ({ query }) => (changed += /\bupdate "restaurant_order" set\b/i.test(query.sql) ? 1 : 0),
    });
    const worker = startSandboxWorker(t, service, tenant, 100_000, { db });
    t.after(() => db.destroy());
    const moved = async () => {
      const rows = await service.database.db
        .selectFrom('event')
        .select('id')
        .where('tenant_id', '=', tenant.tenantId)
        .execute();
      return rows.length;
    };
    await eventually(() => changed > 10, 'orders that move', SETTLE_MS);
    const [beganAt, changedBefore] = [performance.now(), changed];
    await worker.stop(0);
    assert.ok(changed <= changedBefore + 1, `${changed - changedBefore} changes during the stop`);
    assert.ok(performance.now() - beganAt < 10_000);
    const count = await moved();
    assert.ok(count < 500, `${count} moves`);
    await sleep(500);
    assert.equal(await moved(), count);
  });
});
