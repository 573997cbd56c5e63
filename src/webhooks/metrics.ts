import { Counter, Histogram, type Registry } from 'prom-client';
import type { SendOutcome } from './send.ts';

export interface DeliveryMetrics {
  attempted(outcome: SendOutcome): void;
}

/** How attempts end, and how long receivers take to answer. */
export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Webhook attempts by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time until a receiver answered or the attempt failed',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    attempted(outcome) {
      attempts.inc({ outcome: outcome.error ?? 'ok' });
      durations.observe(outcome.durationMs / 1000);
    },
  };
}
