import type { Logger } from 'pino';
import type { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { isUnavailable } from '#platform/db/failures.ts';
import { webhookSecretLocation } from '#access/credentials/credentials.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { coalesce } from '#platform/lib/coalesce.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import type { DueCredential } from '../events/events.ts';
import type { Attempted, WebhookSender } from './attempt.ts';
import type { DeliveryMetrics } from './metrics.ts';
import {
  type ClaimedDelivery,
  createLease,
  drawRetryWaitMs,
  hasEnded,
  idsOf,
  logAttempt,
  type Outcome,
  outcomeOf,
} from './outcomes.ts';
import { Schedule } from './schedule.ts';
import { findDue, recordAndClaim, type Turn } from './store.ts';

/** Tests use other times, because these are too long for them. */
export const DELIVERY_PACE = {
  pollEveryMs: 1_000,
  /** Length of a lease. It is longer than the time limit of an attempt (10 s), so that no lease ends while its attempt runs. */
  leaseSeconds: 15,
  drawWaitMs: drawRetryWaitMs,
  /** Pause in milliseconds after each failure of a failing receiver, in which it gets no attempt. So an outage uses few attempts. */
  probeRestMs: 250,
};
/** Longest time in milliseconds from one turn to the next. A turn sees that a receiver has become slow, or that its pause is over. */
const LOOK_EVERY_MS = 250;
/** Number of attempts to healthy receivers up to which the next turn begins as soon as there is work. */
const FEW = 8;
/**
 * Longest time in milliseconds from one turn to the next if more attempts are under way. Until half of them have ended, the worker waits,
 * because one statement for many deliveries takes less time of PostgreSQL than several.
 */
const TURN_EVERY_MS = 10;
/** Pause in milliseconds after a failed turn, so that a worker does not burden a database that fails. */
const PAUSE_MS = 250;
const SEARCH_SIZE = 5_000;

export interface DeliveryWorkerOptions {
  db: Database;
  keyring: Keyring;
  sender: WebhookSender;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  contact?: DatabaseContact | undefined;
  pace?: Partial<typeof DELIVERY_PACE>;
}

/**
 * Delivers events to webhooks. It learns which credentials have due deliveries from its own process and from notifications of other
 * processes (`wake`), and from a poll of the database. One loop then takes turns. Each turn records the outcomes of the attempts that have
 * ended, and claims the next deliveries. Any number of workers may run at the same time.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions;
  readonly #pace: typeof DELIVERY_PACE;
  readonly #schedule: Schedule;
  /** Finds due deliveries of all processes: retries, lost notifications, and deliveries of workers that have died. */
  readonly #search = coalesce(() => this.#findDue());
  readonly #poll: Poll;
  readonly #running: Promise<void>;
  /** Credential with which the next search begins. Null: it begins with the first. */
  #lastFound: DueCredential | null = null;
  #ended: Outcome[] = [];
  /** True if the next turn may find work: since the last one, a queue was added or an attempt has ended. */
  #hasNews = false;
  /** Number of attempts to healthy receivers that were under way after the last turn. */
  #healthy = 0;
  #turnedAtMs = 0;
  #onNews = () => {};
  #isStopping = false;

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options;
    this.#pace = { ...DELIVERY_PACE, ...options.pace };
    this.#schedule = new Schedule(this.#pace.probeRestMs);
    // The time is random, so that workers do not poll together.
    const everyMs = this.#pace.pollEveryMs * (1 - Math.random() / 4);
    this.#poll = poll(everyMs, this.#search, this.#noteSearch);
    this.#running = this.#takeTurns();
  }

  /** @param credentials those with new events. If the list is empty, the worker searches for all due deliveries. */
  wake(credentials: DueCredential[]): void {
    if (credentials.length === 0) {
      this.#search().catch(this.#noteSearch);
    }
    credentials.forEach((credential) => this.#schedule.add(credential));
    this.#tell();
  }

  /** Stops claiming, and waits until the attempts under way are recorded. Aborts those that have not ended after `graceMs` milliseconds. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#tell();
    const timer = setTimeout(() => void this.#options.sender.close(), graceMs);
    await Promise.all([this.#poll.close(), this.#running]);
    await this.#search();
    clearTimeout(timer);
  }

  async #takeTurns(): Promise<void> {
    while (!this.#isStopping || this.#schedule.taken > 0 || this.#ended.length > 0) {
      await this.#waitUntil(() => this.#hasNews, LOOK_EVERY_MS);
      const isWorthIt = () => this.#healthy <= FEW || this.#ended.length >= this.#healthy / 2;
      await this.#waitUntil(isWorthIt, TURN_EVERY_MS);
      await this.#takeTurn();
    }
  }

  /** Waits until the condition is true, at most until `mostMs` milliseconds after the last turn. */
  async #waitUntil(isTrue: () => boolean, mostMs: number): Promise<void> {
    const waitMs = this.#turnedAtMs + mostMs - performance.now();
    if (waitMs > 0 && !isTrue()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#onNews = () => {
          if (isTrue()) {
            clearTimeout(timer);
            resolve();
          }
        };
      });
      this.#onNews = () => {};
    }
  }

  #tell(): void {
    this.#hasNews = true;
    this.#onNews();
  }

  async #takeTurn(): Promise<void> {
    this.#hasNews = false;
    this.#turnedAtMs = performance.now();
    const ended = this.#ended.splice(0);
    const chosen = this.#isStopping ? [] : this.#schedule.choose();
    if (ended.length + chosen.length > 0) {
      const turn = await recordAndClaim(this.#options.db, ended, chosen, createLease(this.#pace.leaseSeconds));
      const claimedOf = Map.groupBy(turn.claimed, ({ credentialId }) => credentialId);
      for (const queue of chosen) {
        const claimed = claimedOf.get(queue.credentialId) ?? [];
        this.#begin(claimed);
        if (claimed.length === queue.count) {
          this.#schedule.add(queue); // It may have more.
        }
      }
      this.#hasNews ||= chosen.length > 0;
      await this.#settle(ended, turn);
    }
    this.#healthy = this.#schedule.takenByHealthy;
  }

  /** Begins the attempts to deliver what was claimed for one credential. Decrypts its secret once. */
  #begin(claimed: Turn['claimed']): void {
    let secret: string | undefined;
    for (const delivery of claimed.filter(({ status }) => status === 'pending')) {
      const location = webhookSecretLocation(delivery.tenantId, delivery.credentialId);
      const read = () => (secret ??= this.#options.keyring.decrypt(delivery.webhookSecret, location));
      void this.#attempt(delivery, read);
    }
  }

  /** Logs the attempts whose outcomes the turn has recorded. The others are recorded later, unless that cannot succeed. */
  async #settle(ended: Outcome[], { recorded, failed }: Turn): Promise<void> {
    const { log } = this.#options;
    for (const outcome of ended) {
      const err = failed.get(outcome);
      if (err !== undefined && !this.#isStopping && isUnavailable(err) && !hasEnded(outcome.delivery.lease)) {
        this.#ended.push(outcome);
      } else {
        logAttempt(log, outcome, recorded.has(outcome.delivery.eventId), err);
      }
    }
    if (failed.size > 0) {
      const [err] = failed.values();
      log.warn({ err }, 'deliveries could not be claimed or recorded; the worker tries again');
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** Keeps the outcome for the next turn. Never throws. */
  async #attempt(delivery: ClaimedDelivery, secret: () => string): Promise<void> {
    const { sender, log, metrics } = this.#options;
    const { tenantId, credentialId, webhookUrl } = delivery;
    const place = this.#schedule.take(tenantId, webhookUrl);
    const mayBegin = await place.mayBegin.promise;
    const isLate = performance.now() > delivery.lease.beginBeforeMs;
    let sent: Attempted | null = null;
    if (isLate) {
      log.warn(
        idsOf(delivery),
        'webhook attempt not started, because its lease ends too soon; the delivery is due again',
      );
    } else if (mayBegin && !this.#isStopping) {
      sent = await sender.attempt({ ...delivery, secret });
      metrics?.attempted(delivery, sent);
    }
    // An aborted attempt and a fault of the service do not show the state of the receiver.
    const isOurs = sent?.error === 'aborted' || sent?.error === 'internal_error';
    this.#schedule.end(place, sent === null || isOurs ? null : sent.ok);
    if (!mayBegin) {
      this.#schedule.add({ tenantId, credentialId, webhookUrl });
    }
    this.#ended.push(outcomeOf(delivery, sent, this.#pace.drawWaitMs));
    this.#tell();
  }

  async #findDue(): Promise<void> {
    if (this.#isStopping) {
      return;
    }
    const begunAtMs = performance.now();
    const found = await findDue(this.#options.db, this.#lastFound, SEARCH_SIZE);
    this.#options.contact?.confirm(begunAtMs);
    this.#lastFound = found.length === SEARCH_SIZE ? (found.at(-1) ?? null) : null;
    found.forEach((queue) => this.#schedule.add(queue));
    this.#tell();
  }

  readonly #noteSearch = (err: unknown) =>
    this.#options.log.warn({ err }, 'the due deliveries cannot be read; the worker tries again');
}
