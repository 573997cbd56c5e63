import { Counter, Histogram, type Registry } from 'prom-client';
import type { Attempted } from './attempt.ts';
import type { ClaimedDelivery } from './outcomes.ts';

export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>;

export function createDeliveryMetrics(registry: Registry) {
  const registers = [registry];
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Number of webhook attempts by outcome',
    labelNames: ['outcome'],
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
  return {
    attempted({ createdAtMs, waitedSeconds }: ClaimedDelivery, { ok, error }: Attempted): void {
      attempts.inc({ outcome: error ?? 'ok' });
      waits.observe(waitedSeconds);
      if (ok) {
        latencies.observe(Math.max(0, Date.now() - createdAtMs) / 1000);
      }
    },
  };
}
