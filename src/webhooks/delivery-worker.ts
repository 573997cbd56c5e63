import type { Logger } from 'pino';
import { webhookSecretPlace } from '../credentials/credentials.ts';
import type { Database } from '../db/database.ts';
import { retrying } from '../db/failures.ts';
import type { Keyring } from '../keys/keys.ts';
import { newId } from '../lib/ids.ts';
import { drawRetryWaitMs, MAX_ATTEMPTS } from './retry.ts';
import type { DeliveryStatus } from './schema.ts';
import type { SendOutcome, WebhookSender } from './send.ts';
import { deliveryHeaders } from './signature.ts';
import { type ClaimedDelivery, claimDue, recordOutcome } from './store.ts';

/** Deliveries under way at once in this process. */
const SLOTS = 64;
/** Longer than an attempt may take (10 s), so that a lease runs out only when its holder is gone. */
const LEASE_SECONDS = 15;
/** The scan's pace while nothing wakes it; jittered, so that several workers do not march in step. */
const SCAN_EVERY_MS = 200;
/** After a failed scan (a database out of reach) the worker slows down to this. */
const MAX_SCAN_WAIT_MS = 2_000;

export interface DeliveryWorkerOptions {
  db: Database;
  keyring: Keyring;
  sender: WebhookSender;
  headerBrand: string;
  log: Logger;
  /** Told of every attempt's outcome. */
  onAttempt?: (outcome: SendOutcome) => void;
  /** How long an attempt may be under way before another worker takes the delivery: 15 s. */
  leaseSeconds?: number;
  /** The wait after the n-th failed attempt: by decision 33. */
  drawWaitMs?: (attempt: number) => number;
}

/** Delivers events: claims what is due, sends it, records the outcome. Any number may run side by side. */
export interface DeliveryWorker {
  /** There may be something due: look now. */
  wake(): void;
  /** Takes no more, lets what is under way end, and gives back what has not ended after the grace. */
  stop(graceMs: number): Promise<void>;
}

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { db, log, leaseSeconds = LEASE_SECONDS } = options;
  const underWay = new Set<Promise<void>>();
  const abort = new AbortController();
  let isStopping = false;
  let isAwake = true;
  let wakeUp = () => {};
  const wake = () => {
    isAwake = true;
    wakeUp();
  };

  /** @returns whether there may be more to take at once */
  async function takeDue(): Promise<boolean> {
    const free = SLOTS - underWay.size;
    const { taken, deliveries } = await claimDue(db, free, leaseSeconds, newId());
    for (const delivery of deliveries) {
      const delivering = deliver(options, delivery, abort.signal).finally(() => {
        const wasFull = underWay.size === SLOTS;
        underWay.delete(delivering);
        if (wasFull) {
          wake();
        }
      });
      underWay.add(delivering);
    }
    return taken === free;
  }

  async function run(): Promise<void> {
    let waitMs = SCAN_EVERY_MS;
    while (!isStopping) {
      isAwake = false;
      if (underWay.size < SLOTS) {
        try {
          isAwake = (await takeDue()) || isAwake;
          waitMs = SCAN_EVERY_MS;
        } catch (error) {
          log.warn({ err: error }, 'cannot look for due deliveries');
          isAwake = false;
          waitMs = Math.min(MAX_SCAN_WAIT_MS, waitMs * 2);
        }
      }
      if (!isAwake && !isStopping) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, waitMs * (0.5 + Math.random() / 2));
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    }
  }

  const running = run();
  return {
    wake,
    async stop(graceMs) {
      isStopping = true;
      wake();
      const timer = setTimeout(() => abort.abort(), graceMs);
      await running;
      await Promise.all(underWay);
      clearTimeout(timer);
    },
  };
}

/** One attempt, from the claim to the recorded outcome. It never throws: what it cannot record, the lease's end repeats. */
async function deliver(options: DeliveryWorkerOptions, delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> {
  const { db, log } = options;
  const ids = { tenant_id: delivery.tenantId, event_id: delivery.eventId, attempt: delivery.attempt };
  try {
    const outcome = await send(options, delivery, signal);
    options.onAttempt?.(outcome);
    const next = afterAttempt(delivery.attempt, outcome, options.drawWaitMs ?? drawRetryWaitMs);
    const isRecorded = await retrying(() => recordOutcome(db, delivery, outcome, next));
    log.info({ ...ids, ...outcome, status: next.status, is_recorded: isRecorded }, 'webhook attempt');
  } catch (error) {
    log.error({ ...ids, err: error }, 'webhook attempt could not be recorded');
  }
}

async function send(
  { keyring, sender, headerBrand, log }: DeliveryWorkerOptions,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<SendOutcome> {
  let secret: string;
  try {
    secret = keyring.decrypt(delivery.webhookSecret, webhookSecretPlace(delivery.tenantId, delivery.credentialId));
  } catch (error) {
    log.error({ err: error, tenant_id: delivery.tenantId, event_id: delivery.eventId }, 'webhook secret does not open');
    return { ok: false, httpStatus: null, durationMs: 0, error: 'internal_error' };
  }
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = deliveryHeaders(headerBrand, {
    secret,
    eventId: delivery.eventId,
    timestampSeconds,
    body: delivery.body,
  });
  return await sender.send({ url: delivery.webhookUrl, headers, body: delivery.body, signal });
}

/** Where a delivery stands after its n-th attempt (decision 33). An aborted one goes back at once: we are stopping. */
function afterAttempt(
  attempt: number,
  outcome: SendOutcome,
  drawWaitMs: (attempt: number) => number,
): { status: DeliveryStatus; retryInMs: number } {
  if (outcome.ok) {
    return { status: 'delivered', retryInMs: 0 };
  }
  if (attempt >= MAX_ATTEMPTS) {
    return { status: 'failed', retryInMs: 0 };
  }
  return { status: 'pending', retryInMs: outcome.error === 'aborted' ? 0 : drawWaitMs(attempt) };
}
