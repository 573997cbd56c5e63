import type { Logger } from 'pino';
import { NO_CACHES } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import type { DatabaseContact } from '#platform/db/contact.ts';
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
  config: Pick<Config, 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand' | 'eventRetentionDays'>;
  db: Database;
  /**
   * URL of the database. While the worker holds a scan lease, it listens on a connection to this URL for notifications of new events. A
   * scan lease lets a worker search the database for due deliveries. If the URL is undefined, the worker finds new events only by this
   * search.
   */
  databaseUrl?: string | undefined;
  keyring: Keyring;
  log: Logger;
  metrics?: DeliveryMetrics;
  /** Object that records when this process last reached the database. `/readyz` reads it. */
  contact?: DatabaseContact;
  pace?: DeliveryPace;
  /**
   * Tenant of the sandbox, and the speed of its simulation. The sandbox changes the orders and reservations of this tenant, as staff
   * would. If undefined, no sandbox runs.
   */
  sandbox?: Pick<SandboxOptions, 'findTenant' | 'speed'> | undefined;
}

/**
 * Overrides the times of deliveries: the lease of a claim, the waits between attempts or searches, and the time limit of an attempt. Used
 * by tests, because the times of the contract are too long for tests.
 */
export interface DeliveryPace
  extends Pick<DeliveryWorkerOptions, 'leaseSeconds' | 'drawWaitMs' | 'probeRestMs' | 'scanEveryMs'> {
  /** Time limit of one delivery attempt, in milliseconds. */
  timeoutMs?: number;
  /**
   * If true, responses to failed attempts are always stored. By default, they are not stored if private networks are allowed, because a
   * response may then be from a private server.
   */
  keepAnswers?: boolean;
}

export interface Worker {
  deliveries: LocalDelivery;
  /**
   * Claims no more deliveries, and waits for the deliveries under way. After `graceMs`, aborts each delivery that has not ended and
   * releases its claim.
   */
  stop(graceMs: number): Promise<void>;
}

/** Creates the background loops and starts them: the deliveries, the removal of old events and, if it is configured, the sandbox. */
export function startWorker(dependencies: WorkerDependencies): Worker {
  const { config, db, databaseUrl, keyring, log, metrics, contact, pace = {}, sandbox: sandboxOptions } = dependencies;
  const { timeoutMs, keepAnswers, ...deliveryPace } = pace;
  const sender = createWebhookSender({
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
    keepAnswers,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const notifications = databaseUrl === undefined ? null : new Notifications(databaseUrl);
  const deliveries: DeliveryWorker = new DeliveryWorker({
    db,
    keyring,
    sender,
    headerBrand: config.webhookHeaderBrand,
    log,
    contact,
    // PostgreSQL wakes all listening connections of the database at each notification. So only the few processes that hold a scan lease
    // listen.
    onScanLease: (isHeld) => {
      if (isHeld) {
        notifications?.open(deliveries);
      } else {
        void notifications?.close();
      }
    },
    ...deliveryPace,
    ...(metrics ? { onAttempt: (delivery, sent) => metrics.attempted(delivery, sent) } : {}),
  });
  const retention = startRetention({ db, log, retentionDays: config.eventRetentionDays });
  const createParts = () => createBusiness({ db, keyring, caches: NO_CACHES, deliveries });
  const sandbox = sandboxOptions && startSandbox({ db, log, ...createParts(), ...sandboxOptions });
  return {
    deliveries,
    async stop(graceMs) {
      await Promise.all([deliveries.stop(graceMs), retention.stop(), sandbox?.stop()]);
      await notifications?.close();
      await sender.close();
    },
  };
}

/** Receives notifications of new events while the worker holds a scan lease. */
class Notifications {
  readonly #url: string;
  #listener: Listener | null = null;
  #closed: Promise<void> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  open(deliveries: DeliveryWorker): void {
    this.#listener ??= new Listener({
      url: this.#url,
      channel: WAKE_UP_CHANNEL,
      onNotification: (payload) => deliveries.hear(readWakeUp(payload)),
    });
  }

  async close(): Promise<void> {
    this.#closed = this.#listener?.close() ?? this.#closed;
    this.#listener = null;
    await this.#closed;
  }
}
