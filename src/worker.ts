import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import type { Keyring } from './keys/keys.ts';
import { type DeliveryWorker, type DeliveryWorkerOptions, startDeliveryWorker } from './webhooks/delivery-worker.ts';
import type { DeliveryMetrics } from './webhooks/metrics.ts';
import { createWebhookSender } from './webhooks/send.ts';

export interface WorkerDependencies {
  config: Pick<Config, 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand'>;
  db: Database;
  keyring: Keyring;
  log: Logger;
  metrics?: DeliveryMetrics;
  pace?: DeliveryPace;
}

/** What may run faster than the contract's times where nobody has those times to wait. */
export interface DeliveryPace extends Pick<DeliveryWorkerOptions, 'leaseSeconds' | 'drawWaitMs'> {
  /** How long an attempt may take. */
  timeoutMs?: number;
}

/** Composition root of the background loops: the deliveries. */
export function startWorker({ config, db, keyring, log, metrics, pace = {} }: WorkerDependencies): DeliveryWorker {
  const { timeoutMs, ...deliveryPace } = pace;
  const sender = createWebhookSender({
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const worker = startDeliveryWorker({
    db,
    keyring,
    sender,
    headerBrand: config.webhookHeaderBrand,
    log,
    ...deliveryPace,
    ...(metrics ? { onAttempt: (outcome) => metrics.attempted(outcome) } : {}),
  });
  return {
    wake: () => worker.wake(),
    async stop(graceMs) {
      await worker.stop(graceMs);
      await sender.close();
    },
  };
}
