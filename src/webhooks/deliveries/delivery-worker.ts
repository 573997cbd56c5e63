import type { Logger } from 'pino';
import type { Database } from '#platform/db/database.ts';
import { isLogged } from '#platform/errors.ts';
import { newId } from '#platform/lib/ids.ts';
import type { ClaimedDelivery, DueQueue, Lease, LocalDelivery } from '../events/events.ts';
import { type AttemptOptions, outcomeOf, sendOnce, verdictOn } from './attempt.ts';
import { type Claim, Claims } from './claims.ts';
import { OutcomeRecorder } from './outcomes.ts';
import { drawRetryWaitMs } from './retry.ts';
import type { SendOutcome } from './send.ts';
import { SendingSlots } from './sending-slots.ts';

/** Longer than an attempt may take (10 s), so that a lease runs out only when its holder is gone. */
const LEASE_SECONDS = 15;
/** An attempt begins in the first third of its lease: a process that was stopped for longer comes too late. */
const BEGIN_WITHIN = 1 / 3;
/** The scan's pace, at most; jittered, so that several workers do not march in step. */
const SCAN_EVERY_MS = 200;
/** After failed scans (a database out of reach) the worker slows down to this. */
const MAX_SCAN_WAIT_MS = 2_000;
/** Credentials whose receiver is remembered from one event to the next. */
const MAX_CACHED = 10_000;

export interface DeliveryWorkerOptions extends AttemptOptions {
  db: Database;
  log: Logger;
  /** Told how every attempt ended. */
  onAttempt?: (delivery: ClaimedDelivery, sent: SendOutcome) => void;
  /** How long an attempt may be under way before another worker takes the delivery: 15 s. */
  leaseSeconds?: number | undefined;
  /** The wait after the n-th failed attempt: by decision 33. */
  drawWaitMs?: ((attempt: number) => number) | undefined;
  /** How long a receiver that keeps failing rests between two attempts. */
  probeRestMs?: number | undefined;
}

/**
 * Delivers events: those of this process from memory, right after their commit; all others by looking for what is due. Any
 * number of workers may run side by side. What waits is in the database alone, here is only what is under way.
 */
export class DeliveryWorker implements LocalDelivery {
  readonly #options: DeliveryWorkerOptions;
  readonly #slots: SendingSlots;
  readonly #claims: Claims;
  readonly #outcomes: OutcomeRecorder;
  /** Where credentials' events went last, by credential, the longest unused first. */
  readonly #urls = new Map<string, string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  #isStopping = false;
  #isAwake = false;
  #wakeUp = () => {};

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options;
    this.#slots = new SendingSlots({ probeRestMs: options.probeRestMs });
    this.#claims = new Claims(options.db, this.#slots, () => this.#newLease());
    this.#outcomes = new OutcomeRecorder(options.db);
    this.#running = this.#run();
  }

  offerLease({ tenantId, credentialId }: { tenantId: number; credentialId: string }, ahead: number): Lease | null {
    const isFree = !this.#isStopping && this.#slots.room(this.#urls.get(credentialId)) > ahead;
    const isItsTurn = this.#slots.roomOfTenant(tenantId) > ahead || !this.#claims.hasOthersThan(tenantId);
    return isFree && isItsTurn ? this.#newLease() : null;
  }

  begin(delivery: ClaimedDelivery): void {
    this.#start({ delivery, slot: this.#slots.take(delivery.tenantId, delivery.webhookUrl) });
  }

  wake(queue: DueQueue): void {
    this.#claims.add(queue);
    this.#wake();
  }

  /** Takes no more, lets what is under way end, and gives back what has not ended after the grace. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    await this.#running;
    while (this.#underWay.size > 0) {
      await Promise.all(this.#underWay);
    }
    clearTimeout(timer);
  }

  #wake(): void {
    this.#isAwake = true;
    this.#wakeUp();
  }

  async #run(): Promise<void> {
    let scanWaitMs = SCAN_EVERY_MS;
    let scanAtMs = 0;
    while (!this.#isStopping) {
      this.#isAwake = false;
      try {
        if (performance.now() >= scanAtMs) {
          await this.#claims.scan();
          scanAtMs = performance.now() + jittered(scanWaitMs);
        }
        const claims = await this.#claims.take();
        claims?.forEach((claim) => this.#start(claim));
        this.#isAwake ||= claims !== null;
        scanWaitMs = SCAN_EVERY_MS;
      } catch (error) {
        if (!isLogged(error)) {
          this.#options.log.warn({ err: error }, 'cannot look for due deliveries');
        }
        scanWaitMs = Math.min(MAX_SCAN_WAIT_MS, scanWaitMs * 2);
        scanAtMs = performance.now() + jittered(scanWaitMs);
        this.#isAwake = false; // Whatever woke us, the database has to come back first.
      }
      await this.#sleepUntil(scanAtMs);
    }
  }

  /** Or until something wakes us, even where that was before. */
  async #sleepUntil(timeMs: number): Promise<void> {
    if (this.#isAwake || this.#isStopping) {
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, timeMs - performance.now()));
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #newLease(): Lease {
    const { leaseSeconds: seconds = LEASE_SECONDS } = this.#options;
    return { id: newId(), seconds, beginBeforeMs: performance.now() + seconds * 1000 * BEGIN_WITHIN };
  }

  #start(claim: Claim): void {
    this.#remember(claim.delivery);
    const attempt = this.#attempt(claim).finally(() => {
      this.#slots.release(claim.slot);
      this.#underWay.delete(attempt);
      if (!this.#claims.isEmpty) {
        this.#wake();
      }
    });
    this.#underWay.add(attempt);
  }

  /** One attempt, from the claim to the recorded outcome. It never throws: what it cannot record, the lease's end repeats. */
  async #attempt({ delivery, slot }: Claim): Promise<void> {
    const { log, onAttempt, drawWaitMs = drawRetryWaitMs } = this.#options;
    const ids = { tenant_id: delivery.tenantId, event_id: delivery.eventId, attempt: delivery.attempt };
    if (performance.now() > delivery.lease.beginBeforeMs) {
      log.warn(ids, 'webhook attempt comes too late to begin: it is left to the end of its lease');
      return;
    }
    this.#slots.begin(slot);
    const sent = await sendOnce(this.#options, delivery, this.#abort.signal);
    this.#slots.end(slot, verdictOn(sent));
    onAttempt?.(delivery, sent);
    const outcome = outcomeOf(delivery, sent, drawWaitMs);
    try {
      const isRecorded = await this.#outcomes.record(outcome);
      log.info({ ...ids, ...sent, status: outcome.status, is_recorded: isRecorded }, 'webhook attempt');
    } catch (error) {
      log.error({ ...ids, err: error }, 'webhook attempt could not be recorded');
    }
  }

  #remember({ credentialId, webhookUrl }: ClaimedDelivery): void {
    this.#urls.delete(credentialId);
    this.#urls.set(credentialId, webhookUrl);
    const [oldest] = this.#urls.keys();
    if (this.#urls.size > MAX_CACHED && oldest !== undefined) {
      this.#urls.delete(oldest);
    }
  }
}

function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
