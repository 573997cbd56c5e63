import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import type { Keyring } from './keys/keys.ts';
import { type DeliveryWorker, startDeliveryWorker } from './webhooks/delivery-worker.ts';
import type { DeliveryMetrics } from './webhooks/metrics.ts';
import { createWebhookSender } from './webhooks/send.ts';

export interface WorkerDependencies {
  config: Pick<Config, 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand'>;
  db: Database;
  keyring: Keyring;
  log: Logger;
  metrics?: DeliveryMetrics;
}

/** Composition root of the background loops: the deliveries. */
export function startWorker({ config, db, keyring, log, metrics }: WorkerDependencies): DeliveryWorker {
  const sender = createWebhookSender({ allowPrivateNetwork: config.webhookAllowPrivateNetwork });
  const worker = startDeliveryWorker({
    db,
    keyring,
    sender,
    headerBrand: config.webhookHeaderBrand,
    log,
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
