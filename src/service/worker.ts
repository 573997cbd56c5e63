/** Composes the background loops. */
import type { Logger } from 'pino';
import type { Config } from '#platform/config.ts';
import type { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { listenTo } from '#platform/db/notifications.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { type SandboxOptions, startSandbox } from '#developer/sandbox/sandbox.ts';
import { WebhookSender } from '#webhooks/deliveries/attempt.ts';
import { type DELIVERY_PACE, DeliveryWorker } from '#webhooks/deliveries/delivery-worker.ts';
import type { DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';
import { startRetention } from '#webhooks/events/retention.ts';
import { readWakeUp, WAKE_UP_CHANNEL } from '#webhooks/deliveries/wake-ups.ts';
import type { Wake } from '#webhooks/events/events.ts';
import { createBusiness } from './business.ts';

export interface WorkerDependencies {
  config: Config;
  db: Database;
  /** If the URL is undefined, the worker finds the events of other processes only by its poll. */
  databaseUrl?: string | undefined;
  keyring: Keyring;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  contact?: DatabaseContact;
  pace?: DeliveryPace;
  sandbox?: Pick<SandboxOptions, 'findTenant' | 'speed'> | undefined;
}

/** Used by tests, because the times of the contract are too long for tests. */
export interface DeliveryPace extends Partial<typeof DELIVERY_PACE> {
  timeoutMs?: number;
  /** If true, responses to failed attempts are stored although private networks are allowed. Used by tests. */
  keepAnswers?: boolean;
}

export type Worker = ReturnType<typeof startWorker>;

/** Starts the loops. `stop` aborts each delivery that has not ended after `graceMs`, and releases its claim. */
export function startWorker(dependencies: WorkerDependencies) {
  const { config, db, databaseUrl, keyring, log, metrics, contact, pace = {}, sandbox: sandboxOptions } = dependencies;
  const sender = new WebhookSender({
    allowPrivateNetwork: config.webhookAllowPrivateNetwork,
    headerBrand: config.webhookHeaderBrand,
    keepAnswers: pace.keepAnswers,
    timeoutMs: pace.timeoutMs,
  });
  const deliveries = new DeliveryWorker({ db, keyring, sender, log, metrics, contact, pace });
  const retention = startRetention(db, log, config.eventRetentionDays);
  const onNotification = (payload: string) => deliveries.wake(readWakeUp(payload));
  const listener = databaseUrl ? listenTo({ url: databaseUrl, channel: WAKE_UP_CHANNEL, onNotification }) : null;
  const wake: Wake = deliveries.wake.bind(deliveries);
  const sandbox =
    sandboxOptions && startSandbox({ db, log, ...createBusiness({ db, keyring, wake }), ...sandboxOptions });
  return {
    wake,
    async stop(graceMs: number): Promise<void> {
      await Promise.all([deliveries.stop(graceMs), retention.stop(), sandbox?.stop()]);
      await listener?.close();
      await sender.close();
    },
  };
}
