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
  /**
   * Tenant of the sandbox, and the speed of its simulation. The sandbox changes the orders and reservations of this tenant, as staff
   * would. If undefined, no sandbox runs.
   */
  sandbox?: Pick<SandboxOptions, 'findTenant' | 'speed'> | undefined;
}

/**
 * Overrides the lease, the waits and the time limit of deliveries. Tests use it, because the values of the contract are too long for tests.
 */
export interface DeliveryPace extends Pick<DeliveryWorkerOptions, 'leaseSeconds' | 'drawWaitMs' | 'probeRestMs'> {
  /** Time limit of one delivery attempt, in milliseconds. */
  timeoutMs?: number;
}

export interface Worker {
  deliveries: LocalDelivery;
  /**
   * Claims no more deliveries, and waits for the deliveries under way. After `graceMs`, aborts each delivery that has not ended and
   * releases its claim.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts the background loops: the deliveries, the removal of old events and, if it is configured, the sandbox. This function is the
 * composition root of the loops.
 */
export function startWorker(dependencies: WorkerDependencies): Worker {
  const { config, db, keyring, log, metrics, pace = {}, sandbox: sandboxOptions } = dependencies;
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
  const sandbox = sandboxOptions && startSandbox({ db, log, ...createParts(), ...sandboxOptions });
  return {
    deliveries,
    async stop(graceMs) {
      await Promise.all([deliveries.stop(graceMs), retention.stop(), sandbox?.stop()]);
      await sender.close();
    },
  };
}
