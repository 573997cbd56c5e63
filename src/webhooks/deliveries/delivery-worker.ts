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
import { Capacity, PROBE_REST_MS } from './capacity.ts';
import {
  type ClaimedDelivery,
  createLease,
  drawRetryWaitMs,
  type Ended,
  hasEnded,
  idsOf,
  logAttempt,
  outcomeOf,
  outcomeOfUnsent,
} from './outcomes.ts';
import { Queues } from './queues.ts';
import { type DueQueue, findDue } from './search-store.ts';
import { recordAndClaim, type Turn } from './store.ts';
import type { NamedQueue } from './wake-ups.ts';

/** Longest time from one poll to the next in milliseconds. */
export const POLL_EVERY_MS = 1_000;
/** Number of attempts to healthy receivers up to which the next turn begins as soon as there is work. */
const FEW = 8;
/**
 * Longest time in milliseconds from one turn to the next if more attempts are under way. Until half of them have ended, the worker waits,
 * because one statement for many deliveries takes less time of PostgreSQL than several.
 */
const TURN_EVERY_MS = 10;
/** Longest wait for a turn that may have nothing to do. */
const IDLE_MS = 60_000;
/** Pause in milliseconds after a failed turn, so that a worker does not burden a database that fails. */
const PAUSE_MS = 250;
/** Maximum number of outcomes in one turn. If more wait to be recorded, the turn claims nothing, so that their number is bounded. */
const RECORD_SIZE = 500;

export interface DeliveryWorkerOptions {
  db: Database;
  keyring: Keyring;
  sender: WebhookSender;
  log: Logger;
  onAttempt?: (delivery: ClaimedDelivery, sent: Attempted) => void;
  /** Length of a lease in seconds. Default: 15. */
  leaseSeconds?: number | undefined;
  /** Returns the wait in milliseconds after the failed attempt with this number (1 to 4). Default: `drawRetryWaitMs`. */
  drawWaitMs?: ((attempt: number) => number) | undefined;
  /** Object that records when the database last answered this process. Each successful poll updates the time. */
  contact?: DatabaseContact | undefined;
  /** Longest time from one poll to the next, in milliseconds. Default: 1,000. */
  pollEveryMs?: number | undefined;
  /** Pause between two attempts to a receiver whose last three attempts have failed, in milliseconds. Default: 250. */
  probeRestMs?: number | undefined;
}

/**
 * Delivers events to webhooks. It learns which credentials have due deliveries from its own process (`wake`), from notifications of other
 * processes (`hear`) and from a poll of the database. One loop then takes turns. Each turn records the outcomes of the attempts that have
 * ended, and claims the next deliveries. Any number of workers may run at the same time.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions;
  readonly #capacity: Capacity;
  readonly #queues = new Queues();
  /** Finds due deliveries of all processes: retries, lost notifications, and deliveries of workers that have died. */
  readonly #search = coalesce(() => this.#findDue());
  readonly #poll: Poll;
  readonly #running: Promise<void>;
  /** Credential with which the next search begins. Null: it begins with the first. */
  #lastFound: DueQueue | null = null;
  /** Outcomes of the attempts that have ended since the last turn. */
  #ended: Ended[] = [];
  /** True if a queue was added or an attempt has ended since the last turn, so the next turn may find work. */
  #hasNews = false;
  #endedSinceTurn = 0;
  /** Number of attempts to healthy receivers that were under way after the last turn. */
  #healthy = 0;
  #turnedAtMs = 0;
  /** Time (`performance.now()`) until which the loop waits for its next turn. */
  #sleepsUntilMs = Number.POSITIVE_INFINITY;
  #endSleep = () => {};
  #isStopping = false;

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options;
    this.#capacity = new Capacity(options.probeRestMs);
    // The time is random, so that workers do not poll together.
    const everyMs = (options.pollEveryMs ?? POLL_EVERY_MS) * (1 - Math.random() / 4);
    this.#poll = poll(everyMs, this.#search, this.#noteSearch);
    this.#running = this.#takeTurns();
  }

  wake(credentials: DueCredential[]): void {
    credentials.forEach((credential) => this.#queues.add({ ...credential, isActive: true }));
    this.#tell();
  }

  /** @param queues credentials of the events of another process. If the list is empty, the worker searches for all due deliveries. */
  hear(queues: NamedQueue[]): void {
    const unknown = queues.filter((queue) => !this.#queues.addKnown(queue));
    if (queues.length === 0 || unknown.length > 0) {
      this.#search().catch(this.#noteSearch);
    }
    this.#tell();
  }

  /**
   * Stops claiming, and waits until the attempts under way have ended and are recorded. After `graceMs` milliseconds, aborts the attempts
   * that have not ended. A delivery is then due again immediately, so that another worker sends it, unless the aborted attempt was its last
   * one.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#tell();
    const timer = setTimeout(() => void this.#options.sender.close(), graceMs);
    await Promise.all([this.#poll.close(), this.#running]);
    await this.#search();
    clearTimeout(timer);
  }

  async #takeTurns(): Promise<void> {
    while (!this.#isStopping || this.#capacity.taken > 0 || this.#ended.length > 0) {
      for (let waitMs = this.#msUntilTurn(); waitMs > 0; waitMs = this.#msUntilTurn()) {
        await this.#sleep(waitMs);
      }
      await this.#takeTurn();
    }
  }

  async #sleep(ms: number): Promise<void> {
    this.#sleepsUntilMs = performance.now() + ms;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, IDLE_MS));
      this.#endSleep = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #tell(): void {
    this.#hasNews = true;
    if (performance.now() + this.#msUntilTurn() < this.#sleepsUntilMs) {
      this.#endSleep();
    }
  }

  #msUntilTurn(): number {
    if (this.#ended.length === 0 && this.#queues.isEmpty && !this.#capacity.isAhead && !this.#isStopping) {
      return Number.POSITIVE_INFINITY;
    }
    const isWorthIt = this.#healthy <= FEW || this.#endedSinceTurn >= this.#healthy / 2;
    if (this.#hasNews && isWorthIt) {
      return 0;
    }
    // Without news, a turn looks if a receiver has become slow or may get its next attempt after a pause.
    return this.#turnedAtMs + (this.#hasNews ? TURN_EVERY_MS : PROBE_REST_MS) - performance.now();
  }

  async #takeTurn(): Promise<void> {
    this.#hasNews = false;
    this.#endedSinceTurn = 0;
    this.#turnedAtMs = performance.now();
    const free = this.#capacity.countFree();
    this.#healthy = free.takenByHealthy;
    const ended = this.#ended.splice(0, RECORD_SIZE);
    const chosen = this.#isStopping || this.#ended.length > 0 ? [] : this.#queues.choose(free);
    if (ended.length + chosen.length === 0) {
      return;
    }
    const outcomes = ended.map(({ outcome }) => outcome);
    const wanted = chosen.map((each) => each.wanted);
    const turn = await recordAndClaim(this.#options.db, outcomes, wanted, createLease(this.#options.leaseSeconds));
    turn.claimed.forEach((delivery) => void this.#attempt(delivery));
    this.#healthy += turn.claimed.length;
    // A credential of which the claim took as many deliveries as it wanted may have more.
    const unfinished = chosen.filter(({ queue, wanted: { count } }) => turn.takenOf.of(queue.credentialId) === count);
    unfinished.forEach(({ queue }) => this.#queues.add(queue));
    this.#hasNews ||= chosen.length > 0 || this.#ended.length > 0;
    await this.#settle(ended, turn);
  }

  /** Logs the attempts whose outcomes the turn has recorded. The others are recorded later, unless that cannot succeed. */
  async #settle(ended: Ended[], { recorded, failed }: Turn): Promise<void> {
    const errors = new Map(
      failed.flatMap(({ outcomes, error }) => outcomes.map((outcome) => [outcome, error] as const)),
    );
    for (const each of ended) {
      const error = errors.get(each.outcome);
      if (error === undefined) {
        logAttempt(this.#options.log, each, { is_recorded: recorded.has(each.outcome.delivery.eventId) });
      } else if (this.#isStopping || !isUnavailable(error) || hasEnded(each.outcome.delivery.lease)) {
        logAttempt(this.#options.log, each, { is_recorded: false, err: error });
      } else {
        this.#ended.push(each);
      }
    }
    const [first] = failed;
    if (first !== undefined) {
      this.#warn(first.error, 'deliveries could not be claimed or recorded; the worker tries again');
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** Keeps the outcome for the next turn. Never throws. */
  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { sender, keyring, log, onAttempt, drawWaitMs = drawRetryWaitMs } = this.#options;
    const place = this.#capacity.take(delivery.tenantId, delivery.webhookUrl);
    const hasBegun = await this.#capacity.begin(place);
    const isLate = performance.now() > delivery.lease.beginBeforeMs;
    if (isLate) {
      log.warn(
        idsOf(delivery),
        'webhook attempt not started, because its lease ends too soon; the delivery is due again',
      );
    }
    if (!hasBegun || isLate || this.#isStopping) {
      this.#capacity.end(place, null);
      if (!hasBegun) {
        this.#queues.addKnown(delivery);
      }
      this.#end({ outcome: outcomeOfUnsent(delivery), sent: undefined });
      return;
    }
    const { tenantId, credentialId, webhookSecret } = delivery;
    const secret = () => keyring.decrypt(webhookSecret, webhookSecretLocation(tenantId, credentialId));
    const sent = await sender.attempt({ ...delivery, secret });
    // An aborted attempt and a fault of the service do not show the state of the receiver.
    this.#capacity.end(place, sent.error === 'aborted' || sent.error === 'internal_error' ? null : sent.ok);
    onAttempt?.(delivery, sent);
    this.#end({ outcome: outcomeOf(delivery, sent, drawWaitMs), sent });
  }

  #end(ended: Ended): void {
    this.#ended.push(ended);
    this.#endedSinceTurn += 1;
    this.#tell();
  }

  async #findDue(): Promise<void> {
    if (this.#isStopping) {
      return;
    }
    const limit = this.#queues.makeRoom(this.#capacity.countFree());
    const begunAtMs = performance.now();
    const found = await findDue(this.#options.db, this.#lastFound, limit);
    this.#options.contact?.confirm(begunAtMs);
    this.#lastFound = found.length === limit ? (found.at(-1) ?? null) : null;
    this.#queues.addFound(found);
    this.#tell();
  }

  readonly #noteSearch = (error: unknown) =>
    this.#warn(error, 'the due deliveries cannot be read; the worker tries again');

  #warn(err: unknown, message: string): void {
    this.#options.log.warn({ err }, message);
  }
}
