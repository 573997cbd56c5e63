import type { Logger } from 'pino';
import type { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { isLogged } from '#platform/errors.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { newId } from '#platform/lib/ids.ts';
import type { ClaimedDelivery, DueQueue, Lease, LocalDelivery } from '../events/events.ts';
import { type AttemptOptions, ClaimSecrets, isReceiverOk, outcomeOf, outcomeOfUnsent, sendOnce } from './attempt.ts';
import { type Claim, Claims } from './claims.ts';
import { OutcomeRecorder } from './outcomes.ts';
import { drawRetryWaitMs } from './retry.ts';
import { ScanLease } from './scan-lease.ts';
import type { SendOutcome } from './send.ts';
import { SendingSlots, type Slot } from './sending-slots.ts';
import type { Outcome } from './store.ts';
import type { NamedQueue } from './wake-ups.ts';

/**
 * Length of the lease of a claimed delivery. It is longer than the time limit of an attempt (10 s), so that no lease ends while its attempt
 * runs.
 */
const LEASE_SECONDS = 15;
/**
 * First part of the lease (a third), in which the attempt must begin. If the process was suspended for a longer time, it does not begin the
 * attempt. Another claim then sends the event after the lease has ended.
 */
const BEGIN_WITHIN = 1 / 3;
/**
 * Longest wait between two searches for due deliveries. Each wait is shorter by a random time (jitter), so that several workers do not
 * search at the same time.
 */
const SCAN_EVERY_MS = 200;
/** Mean wait between two searches for due deliveries, including the jitter. */
export const MEAN_SCAN_MS = SCAN_EVERY_MS * 0.75;
/**
 * Maximum time under load from the start of a claim until the next claim, in milliseconds. The worker waits so that one statement can claim
 * many deliveries. PostgreSQL then needs less time for each delivery. The worker claims earlier if many attempts have ended since the last
 * claim, because these attempts have freed the sending slots for a large claim. "Many" means at least as many as there are deliveries still
 * under way to healthy receivers.
 */
const CLAIM_WAIT_MS = 20;
/**
 * Number of deliveries to healthy receivers. If at most this number is under way, the worker makes the next claim without a wait. Claimed
 * deliveries that still wait for a sending slot count as under way.
 */
const CLAIM_WITHOUT_WAIT = 32;
/**
 * Maximum number of outcomes that wait to be written to the database. If more outcomes wait, the worker claims no deliveries, so that its
 * memory is bounded.
 */
const MAX_UNRECORDED = 1_000;
/** Longest wait between two searches for due deliveries after failed searches, for example because the database cannot be reached. */
const MAX_SCAN_WAIT_MS = 2_000;
/** Maximum number of credentials in the cache of webhook URLs. */
const MAX_CACHED = 10_000;

export interface DeliveryWorkerOptions extends AttemptOptions {
  db: Database;
  keyring: Keyring;
  log: Logger;
  /** Called after each attempt to send a delivery, with the outcome of the attempt. */
  onAttempt?: (delivery: ClaimedDelivery, sent: SendOutcome) => void;
  /** Length of a lease in seconds. After the lease has ended, another worker may claim the delivery. Default: 15. */
  leaseSeconds?: number | undefined;
  /**
   * Returns the wait in milliseconds after the failed attempt with this number (1 to 4). Default: a random wait. Its maximum is 2 s after
   * the first attempt, and doubles after each further attempt (decision 33).
   */
  drawWaitMs?: ((attempt: number) => number) | undefined;
  /**
   * Object that records when the database last answered this process. The worker regularly reads the table `scan_lease`, and each
   * successful read updates the time.
   */
  contact?: DatabaseContact | undefined;
  /**
   * Called with true when this worker gets a scan lease, and with false when the lease ends. Only workers with a scan lease search the
   * database for the due deliveries of all processes.
   */
  onScanLease?: ((isHeld: boolean) => void) | undefined;
  /** Longest wait between two searches for due deliveries, in milliseconds. Default: 200. */
  scanEveryMs?: number | undefined;
  /** Pause between two attempts to a receiver whose last three attempts have failed, in milliseconds. Default: 250. */
  probeRestMs?: number | undefined;
}

/**
 * Delivers events to webhooks. The worker sends the events of this process from memory, immediately after their commit. It finds all other
 * events by notifications (`hear`) and by a regular search for due deliveries in the database. Any number of workers may run at the same
 * time, but only workers with a scan lease search and get notifications. A worker has only its claimed deliveries in memory. All other
 * waiting deliveries are only in the database.
 */
export class DeliveryWorker implements LocalDelivery {
  readonly #options: DeliveryWorkerOptions;
  readonly #slots: SendingSlots;
  readonly #claims: Claims;
  readonly #outcomes: OutcomeRecorder;
  readonly #scanLease: ScanLease;
  /** Webhook URL of the last delivery of each credential, by credential id. The least recently used credential comes first. */
  readonly #urls = new Map<string, string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #isStopping = false;
  /** True after `stop` has aborted the attempts under way. Then no attempt begins. */
  #isAborted = false;
  #isAwake = false;
  /** Time (`performance.now()`) of the next search for due deliveries. */
  #scanAtMs = 0;
  /** Time (`performance.now()`) at which the last claim began. */
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** Number of attempts that have ended since the last claim began. */
  #endedSinceClaim = 0;
  #wakeUp = () => {};

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options;
    this.#slots = new SendingSlots({ probeRestMs: options.probeRestMs });
    this.#claims = new Claims(options.db, this.#slots, () => this.#newLease());
    this.#outcomes = new OutcomeRecorder(options.db);
    this.#scanLease = new ScanLease({
      db: options.db,
      contact: options.contact,
      onChange: (isHeld) => {
        this.#scanAtMs = 0;
        options.onScanLease?.(isHeld);
      },
    });
    this.#running = this.#run();
  }

  offerLease({ tenantId, credentialId }: { tenantId: number; credentialId: string }, ahead: number): Lease | null {
    const isFree = !this.#isStopping && !this.#isBehind && this.#slots.freeSlots(this.#urls.get(credentialId)) > ahead;
    const isItsTurn =
      this.#slots.freeSlotsOfTenant(tenantId) > ahead || !this.#claims.hasQueuesOfOtherTenants(tenantId);
    return isFree && isItsTurn ? this.#newLease() : null;
  }

  begin(delivery: ClaimedDelivery): void {
    const slot = this.#slots.take(delivery.tenantId, delivery.webhookUrl);
    this.#start({ delivery, slot }, new ClaimSecrets(this.#options.keyring));
  }

  wake(queue: DueQueue): void {
    this.#claims.add(queue);
    this.#wake();
  }

  /**
   * Tells the worker that another process has written events.
   * @param queues credentials of the events. If the list is empty, the worker searches for all due deliveries.
   */
  hear(queues: NamedQueue[]): void {
    const urls = queues.map(({ credentialId }) => this.#urls.get(credentialId));
    for (const [index, queue] of queues.entries()) {
      const webhookUrl = urls[index];
      if (webhookUrl !== undefined) {
        this.#claims.add({ ...queue, webhookUrl, isActive: true });
      }
    }
    if (queues.length === 0 || urls.includes(undefined)) {
      this.#scanAtMs = 0;
    }
    this.#wake();
  }

  /**
   * Stops claiming, and waits until the attempts under way have ended. After `graceMs` milliseconds, aborts the attempts that have not
   * ended. A delivery is then due again immediately, so that another worker sends it, unless the aborted attempt was its last one. Claimed
   * deliveries whose attempt has not begun are due again immediately too.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    const timer = setTimeout(() => {
      this.#isAborted = true;
      void this.#options.sender.close();
    }, graceMs);
    await this.#running;
    await this.#scanLease.release();
    this.#slots.dropWaiting();
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
    const { scanEveryMs = SCAN_EVERY_MS } = this.#options;
    let scanWaitMs = scanEveryMs;
    let sleepUntilMs = 0;
    while (!this.#isStopping) {
      this.#isAwake = false;
      this.#slots.markSlow();
      try {
        if (performance.now() >= this.#scanLease.nextAtMs) {
          await this.#scanLease.keep(!this.#claims.isEmpty && this.#slots.areManyTaken);
        }
        if (performance.now() >= this.#scanAtMs) {
          this.#scanAtMs = performance.now() + jittered(scanWaitMs);
          this.#claims.dropBusyReceivers();
          if (this.#scanLease.isHeld) {
            await this.#claims.scan();
          }
        }
        await this.#claim();
        scanWaitMs = scanEveryMs;
        sleepUntilMs = Math.min(this.#scanAtMs, this.#scanLease.nextAtMs, this.#nextClaimAtMs);
      } catch (error) {
        if (!isLogged(error)) {
          this.#options.log.warn({ err: error }, 'the due deliveries cannot be read; the worker tries again');
        }
        scanWaitMs = Math.min(MAX_SCAN_WAIT_MS, scanWaitMs * 2);
        this.#scanAtMs = performance.now() + jittered(scanWaitMs);
        sleepUntilMs = this.#scanAtMs;
        // The worker waits even if a new event has woken it, because it cannot claim a delivery while the database fails.
        this.#isAwake = false;
      }
      await this.#sleepUntil(sleepUntilMs);
    }
  }

  /**
   * Claims due deliveries and begins their attempts. Does nothing while it is better to wait until more attempts have ended
   * (`#isTimeToClaim`), and after `stop` was called, for example during the search before this claim.
   */
  async #claim(): Promise<void> {
    if (this.#isStopping || !this.#isTimeToClaim) {
      return;
    }
    this.#claimedAtMs = performance.now();
    this.#endedSinceClaim = 0;
    const claims = await this.#claims.take();
    const secrets = new ClaimSecrets(this.#options.keyring);
    claims?.forEach((claim) => this.#start(claim, secrets));
    this.#isAwake ||= claims !== null;
  }

  get #isTimeToClaim(): boolean {
    const { underWayToHealthy } = this.#slots;
    const isWorthIt = underWayToHealthy <= CLAIM_WITHOUT_WAIT || this.#endedSinceClaim >= underWayToHealthy;
    return !this.#isBehind && (isWorthIt || performance.now() >= this.#claimedAtMs + CLAIM_WAIT_MS);
  }

  /** Time (`performance.now()`) of the next claim. The claim comes earlier if an attempt ends or an event wakes the worker. */
  get #nextClaimAtMs(): number {
    if (this.#claims.isEmpty) {
      return Number.POSITIVE_INFINITY;
    }
    return (this.#isBehind ? performance.now() : this.#claimedAtMs) + CLAIM_WAIT_MS;
  }

  get #isBehind(): boolean {
    return this.#outcomes.waitingCount > MAX_UNRECORDED;
  }

  /**
   * Waits until `timeMs` (`performance.now()`), or until `#wake` is called. Returns immediately if `#wake` was called since the current
   * pass of the loop in `#run` began.
   */
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

  #start(claim: Claim, secrets: ClaimSecrets): void {
    this.#cacheUrl(claim.delivery);
    const attempt = this.#attempt(claim, secrets);
    void attempt.then(() => this.#underWay.delete(attempt));
    this.#underWay.add(attempt);
  }

  /**
   * Makes one attempt for a claimed delivery, and records the outcome of the attempt. Never throws. If the outcome cannot be recorded, a
   * worker claims the delivery again after its lease has ended.
   */
  async #attempt({ delivery, slot }: Claim, secrets: ClaimSecrets): Promise<void> {
    const { log, onAttempt, drawWaitMs = drawRetryWaitMs } = this.#options;
    if (!(await this.#slots.begin(slot))) {
      return await this.#record(outcomeOfUnsent(delivery));
    }
    if (this.#isAborted) {
      this.#end(slot, null);
      return await this.#record(outcomeOfUnsent(delivery));
    }
    if (performance.now() > delivery.lease.beginBeforeMs) {
      log.warn(
        idsOf(delivery),
        'webhook attempt not started, because its lease ends too soon; a worker claims the delivery again after the lease has ended',
      );
      return this.#end(slot, null);
    }
    const sent = await sendOnce(this.#options, delivery, secrets);
    this.#end(slot, isReceiverOk(sent));
    onAttempt?.(delivery, sent);
    await this.#record(outcomeOf(delivery, sent, drawWaitMs), sent);
  }

  #end(slot: Slot, isOk: boolean | null): void {
    this.#slots.end(slot, isOk);
    this.#endedSinceClaim += 1;
    if (!this.#claims.isEmpty && this.#isTimeToClaim) {
      this.#wake();
    }
  }

  async #record(outcome: Outcome, sent?: SendOutcome): Promise<void> {
    const { log } = this.#options;
    const ids = idsOf(outcome.delivery);
    try {
      const isRecorded = await this.#outcomes.record(outcome);
      if (sent !== undefined) {
        // The response of a receiver may contain secrets, so the log leaves it out.
        const { answer: _, ...logged } = sent;
        log.info({ ...ids, ...logged, status: outcome.status, is_recorded: isRecorded }, 'webhook attempt');
      }
    } catch (error) {
      log.error(
        { ...ids, err: error },
        'outcome of the webhook attempt could not be recorded; a worker may send the delivery again after its lease has ended',
      );
    }
  }

  #cacheUrl({ credentialId, webhookUrl }: ClaimedDelivery): void {
    this.#urls.delete(credentialId);
    this.#urls.set(credentialId, webhookUrl);
    if (this.#urls.size > MAX_CACHED) {
      const [oldest = ''] = this.#urls.keys();
      this.#urls.delete(oldest);
    }
  }
}

function idsOf({ tenantId, eventId, attempt }: ClaimedDelivery) {
  return { tenant_id: tenantId, event_id: eventId, attempt };
}

function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
