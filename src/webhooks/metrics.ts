import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { type ClaimedDelivery, readQueueState } from './delivery-store.ts';
import type { SendOutcome } from './send.ts';

export interface DeliveryMetrics {
  attempted(delivery: ClaimedDelivery, sent: SendOutcome): void;
}

/** How attempts end, how fast events arrive, and what waits; the last is asked of the database when it is read. */
export function createDeliveryMetrics(registry: Registry, db: Database): DeliveryMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Webhook attempts by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time until a receiver answered or the attempt failed',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const waits = new Histogram({
    name: 'webhook_attempt_wait_seconds',
    help: 'Time a delivery was due before an attempt took it',
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600],
    registers,
  });
  const latencies = new Histogram({
    name: 'webhook_delivery_latency_seconds',
    help: 'Time from an event to its delivery, retries included',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
    registers,
  });
  registerQueueGauges(registry, db);
  return {
    attempted({ createdAt, waitedSeconds }, { ok, error, durationMs }) {
      attempts.inc({ outcome: error ?? 'ok' });
      durations.observe(durationMs / 1000);
      waits.observe(waitedSeconds);
      if (ok) {
        latencies.observe(Math.max(0, Date.now() - createdAt.getTime()) / 1000);
      }
    },
  };
}

function registerQueueGauges(registry: Registry, db: Database): void {
  const oldest = new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'How long the longest waiting delivery of all tenants has been due',
    registers: [registry],
  });
  const depth: Gauge = new Gauge({
    name: 'webhook_queue_depth',
    help: 'Deliveries of all tenants that have not ended: due, under way or waiting for a retry; counted up to a million',
    registers: [registry],
    async collect() {
      try {
        const { pending, oldestDueSeconds } = await readQueueState(db);
        depth.set(pending);
        oldest.set(oldestDueSeconds);
      } catch {
        // Without the database there is nothing to tell, and the other metrics are wanted all the more.
        depth.remove();
        oldest.remove();
      }
    },
  });
}
