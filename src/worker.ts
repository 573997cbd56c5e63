import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import type { Keyring } from './keys/keys.ts';
import { DeliveryWorker, type DeliveryWorkerOptions } from './webhooks/delivery-worker.ts';
import type { DeliveryMetrics } from './webhooks/metrics.ts';
import { startRetention } from './webhooks/retention.ts';
import { createWebhookSender } from './webhooks/send.ts';
import type { LocalDelivery } from './webhooks/webhooks.ts';

export interface WorkerDependencies {
  config: Pick<Config, 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand' | 'eventRetentionDays'>;
  db: Database;
  keyring: Keyring;
  log: Logger;
  metrics?: DeliveryMetrics;
  pace?: DeliveryPace;
}

/** What may run faster than the contract's times where nobody has those times to wait. */
export interface DeliveryPace extends Pick<DeliveryWorkerOptions, 'leaseSeconds' | 'drawWaitMs' | 'probeRestMs'> {
  /** How long an attempt may take. */
  timeoutMs?: number;
}

export interface Worker {
  deliveries: LocalDelivery;
  /** Takes no more, lets what is under way end, and gives back what has not ended after the grace. */
  stop(graceMs: number): Promise<void>;
}

/** Composition root of the background loops: the deliveries, and the removal of old events. */
export function startWorker({ config, db, keyring, log, metrics, pace = {} }: WorkerDependencies): Worker {
  const { timeoutMs, ...deliveryPace } = pace;
  const sender = createWebhookSender({
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const deliveries = new DeliveryWorker({
    db,
    keyring,
    sender,
    headerBrand: config.webhookHeaderBrand,
    log,
    ...deliveryPace,
    ...(metrics ? { onAttempt: (delivery, sent) => metrics.attempted(delivery, sent) } : {}),
  });
  const retention = startRetention({ db, log, retentionDays: config.eventRetentionDays });
  return {
    deliveries,
    async stop(graceMs) {
      await Promise.all([deliveries.stop(graceMs), retention.stop()]);
      await sender.close();
    },
  };
}
