import type { Logger } from 'pino';
import { NO_CACHES } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { type SandboxOptions, startSandbox } from '#developer/sandbox/sandbox.ts';
import { DeliveryWorker, type DeliveryWorkerOptions } from '#webhooks/deliveries/delivery-worker.ts';
import type { DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';
import { startRetention } from '#webhooks/events/retention.ts';
import { createWebhookSender } from '#webhooks/deliveries/send.ts';
import type { LocalDelivery } from '#webhooks/events/events.ts';
import { createBusiness } from './business.ts';

export interface WorkerDependencies {
  config: Pick<Config, 'bounds' | 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand' | 'eventRetentionDays'>;
  db: Database;
  keyring: Keyring;
  log: Logger;
  metrics?: DeliveryMetrics;
  pace?: DeliveryPace;
  /** Where given, this tenant is kept alive. */
  sandbox?: Pick<SandboxOptions, 'findTenant' | 'speed'> | undefined;
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

/** Composition root of the background loops: the deliveries, the removal of old events, and the sandbox where there is one. */
export function startWorker(dependencies: WorkerDependencies): Worker {
  const { config, db, keyring, log, metrics, pace = {}, sandbox: house } = dependencies;
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
  const createParts = () => createBusiness({ config, db, keyring, log, caches: NO_CACHES, deliveries });
  const sandbox = house && startSandbox({ db, log, ...createParts(), ...house });
  return {
    deliveries,
    async stop(graceMs) {
      await Promise.all([deliveries.stop(graceMs), retention.stop(), sandbox?.stop()]);
      await sender.close();
    },
  };
}
