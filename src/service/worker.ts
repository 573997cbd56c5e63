import type { Logger } from 'pino';
import { NO_CACHES } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import { Listener } from '#platform/db/notifications.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { type SandboxOptions, startSandbox } from '#developer/sandbox/sandbox.ts';
import { DeliveryWorker, type DeliveryWorkerOptions } from '#webhooks/deliveries/delivery-worker.ts';
import type { DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';
import { startRetention } from '#webhooks/events/retention.ts';
import { createWebhookSender } from '#webhooks/deliveries/send.ts';
import { readWakeUp, WAKE_UP_CHANNEL } from '#webhooks/deliveries/wake-ups.ts';
import type { LocalDelivery } from '#webhooks/events/events.ts';
import { createBusiness } from './business.ts';

export interface WorkerDependencies {
  config: Pick<Config, 'bounds' | 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand' | 'eventRetentionDays'>;
  db: Database;
  /** Database at which the worker listens to notifications of new events. If undefined, the worker only searches for them. */
  databaseUrl?: string | undefined;
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
export interface DeliveryPace
  extends Pick<DeliveryWorkerOptions, 'leaseSeconds' | 'drawWaitMs' | 'probeRestMs' | 'scanEveryMs'> {
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
  const { config, db, databaseUrl, keyring, log, metrics, pace = {}, sandbox: sandboxOptions } = dependencies;
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
  const listener = databaseUrl === undefined ? null : listen(databaseUrl, deliveries, log);
  const retention = startRetention({ db, log, retentionDays: config.eventRetentionDays });
  const createParts = () => createBusiness({ config, db, keyring, log, caches: NO_CACHES, deliveries });
  const sandbox = sandboxOptions && startSandbox({ db, log, ...createParts(), ...sandboxOptions });
  return {
    deliveries,
    async stop(graceMs) {
      await Promise.all([deliveries.stop(graceMs), listener?.close(), retention.stop(), sandbox?.stop()]);
      await sender.close();
    },
  };
}

function listen(url: string, deliveries: DeliveryWorker, log: Logger): Listener {
  return new Listener({
    url,
    channel: WAKE_UP_CHANNEL,
    onNotification: (payload) => deliveries.hear(readWakeUp(payload)),
    onDeaf: () =>
      log.info(
        'the database passes no notifications on, as behind a pooler in transaction mode; ' +
          'the worker finds the events of processes without a worker by its search, within 0.2 s',
      ),
  });
}
