import type { Logger } from 'pino';
import { RecentChanges } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/db/database.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { createMenuReader } from '#restaurant/menu/menu.ts';
import { createNightReader } from '#hotel/nights/nights.ts';
import { Orders } from '#restaurant/orders/orders.ts';
import { createRateReader } from '#hotel/rates/rates.ts';
import { Reservations } from '#hotel/reservations/reservations.ts';
import { createRoomTypeFinder } from '#hotel/rooms/rooms.ts';
import { type SandboxOptions, startSandbox } from '#developer/sandbox/sandbox.ts';
import { DeliveryWorker, type DeliveryWorkerOptions } from '#webhooks/deliveries/delivery-worker.ts';
import type { DeliveryMetrics } from '#webhooks/deliveries/metrics.ts';
import { startRetention } from '#webhooks/events/retention.ts';
import { createWebhookSender } from '#webhooks/deliveries/send.ts';
import { createTransactionWithEvents, type LocalDelivery } from '#webhooks/events/events.ts';

export interface WorkerDependencies {
  config: Pick<Config, 'webhookAllowPrivateNetwork' | 'webhookHeaderBrand' | 'eventRetentionDays'>;
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
  const sandbox = house && startSandbox({ db, log, ...createStaffParts(dependencies, deliveries), ...house });
  return {
    deliveries,
    async stop(graceMs) {
      await Promise.all([deliveries.stop(graceMs), retention.stop(), sandbox?.stop()]);
      await sender.close();
    },
  };
}

/** What the sandbox moves orders and reservations with. It books nothing, so nothing is remembered. */
function createStaffParts({ db, log }: WorkerDependencies, deliveries: LocalDelivery) {
  const changes = new RecentChanges(db, log);
  const transactionWithEvents = createTransactionWithEvents(db, deliveries);
  return {
    orders: new Orders({ db, readListedMenu: createMenuReader({ db, changes, log }), transactionWithEvents }),
    reservations: new Reservations({
      db,
      transactionWithEvents,
      findRoomType: createRoomTypeFinder({ db, changes }),
      rates: createRateReader(db),
      readHeldNights: createNightReader(db),
    }),
  };
}
