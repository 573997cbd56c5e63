import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { sql } from 'kysely';
import { insertBacklog, removeAllEvents, startTestWorker, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { onlyDelivery, register } from '#test/support/webhooks.ts';
import type { Worker } from '#service/worker.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { createTransactionWithEvents } from '../events/events.ts';

describe('the metrics of deliveries', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenant: TestTenant;
  let worker: Worker | undefined;
  const registry = new Registry();

  before(async () => {
    service = await startService();
    receiver = await startReceiver();
    tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
  });
  after(async () => {
    await worker?.stop(0);
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

  it('the metrics count attempts by outcome, and measure the waits of attempts and the latency of deliveries', async () => {
    worker = startTestWorker(service, { drawWaitMs: () => 50 }, createDeliveryMetrics(registry));
    receiver.answerWith(() => (receiver.requests.length === 1 ? 500 : { status: 204, afterMs: 400 }));
    await writeEvent(createTransactionWithEvents(service.database.db, null), tenant);
    await onlyDelivery(service, tenant, 'delivered');
    await writeEvent(createTransactionWithEvents(service.database.db, worker.wake), tenant);
    await receiver.waitFor(3);
    await worker.stop(5_000);
    const seen = await scrape();
    assert.equal(seen['webhook_attempts_total{outcome="http_status"}'], 1);
    assert.equal(seen['webhook_attempts_total{outcome="ok"}'], 2);
    assert.equal(seen['webhook_attempt_wait_seconds_count'], 3);
    assert.equal(seen['webhook_delivery_latency_seconds_count'], 2);
    assert.ok((seen['webhook_delivery_latency_seconds_sum'] ?? 0) >= 0.75);
  });

  it('webhook_attempt_wait_seconds measures 40 s for a delivery that was due for 40 s before it was claimed', async () => {
    await removeAllEvents(service.database.db);
    await insertBacklog(service.database.db, tenant, 1);
    await sql`UPDATE delivery SET next_attempt_at = now() - interval '40 s' WHERE tenant_id = ${tenant.tenantId}`.execute(
      service.database.db,
    );
    const registered = new Registry();
    const metrics = createDeliveryMetrics(registered);
    worker = startTestWorker(service, {}, metrics);
    await onlyDelivery(service, tenant, 'delivered');
    await worker.stop(5_000);
    const lines = await registered.metrics();
    const sum = Number(/^webhook_attempt_wait_seconds_sum (.*)$/m.exec(lines)?.[1]);
    assert.ok(sum >= 40 && sum < 50, `the sum of waits is ${sum} s`);
  });
});
