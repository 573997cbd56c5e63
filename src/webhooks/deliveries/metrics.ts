import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from '#platform/db/database.ts';
import type { Attempted } from './attempt.ts';
import type { ClaimedDelivery } from './outcomes.ts';
import { type QueueState, readQueueState } from './search-store.ts';

/** Longest time that a scrape of the metrics waits for the database, in milliseconds. */
const READ_WITHIN_MS = 2_000;

export interface DeliveryMetrics {
  attempted(delivery: ClaimedDelivery, sent: Attempted): void;
}

/**
 * Creates the metrics of deliveries: outcomes and durations of attempts, latencies, and the waiting deliveries. Each scrape reads the
 * number of waiting deliveries and the age of the oldest due delivery from the database.
 */
export function createDeliveryMetrics(registry: Registry, db: Database): DeliveryMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Number of webhook attempts by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time from the start of an attempt until the receiver answered or the attempt failed',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const waits = new Histogram({
    name: 'webhook_attempt_wait_seconds',
    help: 'Time from the moment a delivery was due until it was claimed for an attempt',
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600],
    registers,
  });
  const latencies = new Histogram({
    name: 'webhook_delivery_latency_seconds',
    help: 'Time from an event to its successful delivery, including retries',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
    registers,
  });
  registerQueueGauges(registry, db);
  return {
    attempted({ createdAtMs, waitedSeconds }, { ok, error, durationMs }) {
      attempts.inc({ outcome: error ?? 'ok' });
      durations.observe(durationMs / 1000);
      waits.observe(waitedSeconds);
      if (ok) {
        latencies.observe(Math.max(0, Date.now() - createdAtMs) / 1000);
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
        // If the database does not respond, the scrape leaves out this metric of waiting deliveries, and still returns the other metrics.
        if (state === null) {
          this.remove();
        } else {
          this.set(value(state));
        }
      },
    });
  gauge(
    'webhook_oldest_due_seconds',
    'Time for which the oldest due delivery of all tenants has been due',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  );
  gauge(
    'webhook_queue_depth',
    'Number of deliveries of all tenants that are due, under way or waiting for a retry; counted up to one million',
    ({ pending }) => pending,
  );
}

/**
 * Returns a function that reads the number of waiting deliveries and the age of the oldest due delivery. Concurrent calls share one read.
 * The function returns null if the read fails or takes longer than `READ_WITHIN_MS`.
 */
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
