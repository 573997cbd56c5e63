import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { sql } from 'kysely';
import { type DatabaseProxy, startDatabaseProxy } from '#test/support/database-proxy.ts';
import { insertBacklog, removeAllEvents, startTestWorker, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { runningMsOf } from '#test/support/running-time.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, listDeliveries, onlyDelivery, register } from '#test/support/webhooks.ts';
import type { Worker } from '#service/worker.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { createTransactionWithEvents } from '../events/events.ts';

describe('the metrics of deliveries', () => {
  let service: TestService;
  let proxy: DatabaseProxy;
  let receiver: Receiver;
  let tenant: TestTenant;
  let worker: Worker | undefined;
  const registry = new Registry();

  before(async () => {
    service = await startService();
    proxy = await startDatabaseProxy(service.database.url, 2);
    receiver = await startReceiver();
    tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
  });
  after(async () => {
    await worker?.stop(0);
    await proxy.close();
    await service.close();
    await receiver.close();
  });

  /** Returns the values of all metrics. Each key has the name and the labels of the metric, in the format of Prometheus. */
  async function scrape(): Promise<Record<string, number>> {
    const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  }

  it('the metrics show the present number of waiting deliveries, and for how long the oldest due delivery has been due', async () => {
    const metrics = createDeliveryMetrics(registry, proxy.db);
    assert.deepEqual([(await scrape())['webhook_queue_depth'], (await scrape())['webhook_oldest_due_seconds']], [0, 0]);
    await insertBacklog(service.database.db, tenant, 7);
    await sql`
      UPDATE delivery AS d SET next_attempt_at = now() + CASE WHEN body = '{"number":3}' THEN interval '-90 s' ELSE interval '1 h' END
      FROM event AS e WHERE d.tenant_id = ${tenant.tenantId} AND e.tenant_id = d.tenant_id AND e.id = d.id
    `.execute(service.database.db);
    const seen = await scrape();
    assert.equal(seen['webhook_queue_depth'], 7);
    const oldest = seen['webhook_oldest_due_seconds'] ?? 0;
    assert.ok(oldest >= 90 && oldest < 100, `the oldest delivery has been due for ${oldest} s`);
    await removeAllEvents(service.database.db);
    const { webhook_queue_depth: depth, webhook_oldest_due_seconds: age } = await scrape();
    assert.deepEqual([depth, age], [0, 0]);
    worker = startTestWorker(service, { drawWaitMs: () => 50 }, metrics);
  });

  it('the metrics count attempts by outcome, and measure the wait and duration of attempts and the latency of deliveries', async () => {
    assert.ok(worker);
    receiver.answerWith(() => (receiver.requests.length === 1 ? 500 : { status: 204, afterMs: 400 }));
    await writeEvent(createTransactionWithEvents(service.database.db, null), tenant);
    await onlyDelivery(service, tenant, 'delivered');
    await writeEvent(createTransactionWithEvents(service.database.db, worker.wake), tenant);
    await receiver.waitFor(3);
    await worker.stop(5_000);
    const seen = await scrape();
    const attempts = (await listDeliveries(service, tenant)).flatMap((delivery) => delivery.attempts);
    const durations = attempts.map(({ duration_ms }) => (duration_ms ?? Number.NaN) / 1_000);
    assert.equal(seen['webhook_attempts_total{outcome="http_status"}'], 1);
    assert.equal(seen['webhook_attempts_total{outcome="ok"}'], 2);
    assert.equal(seen['webhook_attempt_duration_seconds_count'], 3);
    const sum = durations.reduce((total, seconds) => total + seconds, 0);
    assert.ok(sum >= 0.75 && Math.abs((seen['webhook_attempt_duration_seconds_sum'] ?? 0) - sum) < 0.001, `${sum} s`);
    for (const bound of [0.25, 0.5, 2.5]) {
      const count = durations.filter((seconds) => seconds <= bound).length;
      assert.equal(
        seen[`webhook_attempt_duration_seconds_bucket{le="${bound}"}`],
        count,
        `${bound}: ${durations.join()}`,
      );
    }
    assert.equal(seen['webhook_attempt_wait_seconds_count'], 3);
    assert.equal(seen['webhook_delivery_latency_seconds_count'], 2);
    assert.ok((seen['webhook_delivery_latency_seconds_sum'] ?? 0) >= 0.75);
    assert.deepEqual([seen['webhook_queue_depth'], seen['webhook_oldest_due_seconds']], [0, 0]);
  });

  it('webhook_attempt_wait_seconds measures 40 s for a delivery that was due for 40 s before it was claimed', async () => {
    await removeAllEvents(service.database.db);
    await insertBacklog(service.database.db, tenant, 1);
    await sql`UPDATE delivery SET next_attempt_at = now() - interval '40 s' WHERE tenant_id = ${tenant.tenantId}`.execute(
      service.database.db,
    );
    const registered = new Registry();
    const metrics = createDeliveryMetrics(registered, proxy.db);
    worker = startTestWorker(service, {}, metrics);
    await onlyDelivery(service, tenant, 'delivered');
    await worker.stop(5_000);
    const lines = await registered.metrics();
    const sum = Number(/^webhook_attempt_wait_seconds_sum (.*)$/m.exec(lines)?.[1]);
    assert.ok(sum >= 40 && sum < 50, `the sum of waits is ${sum} s`);
  });

  it('while the database cannot be reached or does not answer, only the metrics of waiting deliveries are missing', async () => {
    const hasQueueMetrics = async () => {
      const { webhook_queue_depth: depth, webhook_oldest_due_seconds: age, ...others } = await scrape();
      assert.equal(others['webhook_attempts_total{outcome="ok"}'], 2);
      assert.equal(depth === undefined, age === undefined);
      return depth !== undefined;
    };
    await eventually(hasQueueMetrics, 'queue metrics');
    await proxy.refuse();
    assert.equal(await hasQueueMetrics(), false);
    await proxy.restore();
    await eventually(hasQueueMetrics, 'queue metrics after the database is back');
    proxy.swallow();
    const tookMs = await runningMsOf(async () => {
      assert.deepEqual(await Promise.all([hasQueueMetrics(), hasQueueMetrics()]), [false, false]);
    });
    assert.ok(tookMs < 4_000, `the scrape took ${tookMs} ms`);
    await proxy.restore();
    await eventually(hasQueueMetrics, 'queue metrics after the database is back');
  });
});
