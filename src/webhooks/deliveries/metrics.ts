import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from '#platform/db/database.ts';
import type { ClaimedDelivery } from '../events/events.ts';
import type { SendOutcome } from './send.ts';
import { type QueueState, readQueueState } from './store.ts';

/** A scrape does not wait longer for a database that is silent. */
const READ_WITHIN_MS = 2_000;

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
  const read = createStateReader(db);
  const gauge = (name: string, help: string, value: (state: QueueState) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const state = await read();
        // Without the database there is nothing to tell, and the other metrics are wanted all the more.
        if (state === null) {
          this.remove();
        } else {
          this.set(value(state));
        }
      },
    });
  gauge(
    'webhook_oldest_due_seconds',
    'How long the longest waiting delivery of all tenants has been due',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  );
  gauge(
    'webhook_queue_depth',
    'Deliveries of all tenants that have not ended: due, under way or waiting for a retry; counted up to a million',
    ({ pending }) => pending,
  );
}

/** One reading at a time, for all who ask meanwhile; null where it fails or takes longer than a scrape may. */
function createStateReader(db: Database): () => Promise<QueueState | null> {
  let reading: Promise<QueueState | null> | null = null;
  return () => {
    reading ??= readQueueState(db)
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return Promise.race([reading, sleep(READ_WITHIN_MS, null, { ref: false })]);
  };
}
