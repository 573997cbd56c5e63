import type { Staff } from '#access/tenants/tenants.ts';
import type { Fact } from './hint.ts';
import { LookMemory } from './look-memory.ts';
import type { LookRow } from './store.ts';
import { Subscription } from './subscription.ts';

/**
 * Age in milliseconds of the oldest rows that a look (a read of the newest rows) includes. A new row may become visible late, because its
 * transaction was long or because the clock of its process is slow. So each look also reads rows that earlier looks have read.
 */
const BACK_MS = 30_000;
/**
 * Age in milliseconds of the oldest rows in the first read for a tenant. This read must find all changes that a client missed while it
 * moved to this process. So the age is the sum of two periods of `BACK_MS`:
 * - The last event of the client may be up to `BACK_MS` old. A client with an older last event must read all data again.
 * - A row may become visible up to `BACK_MS` after it was written. So the row of a missed change may be older than the last event, also by
 *   up to `BACK_MS`.
 */
const FIRST_BACK_MS = 2 * BACK_MS;

/**
 * State of one tenant with open streams in this process: its subscriptions, and the changes that its looks (reads of the newest rows)
 * found.
 */
export class Watch {
  readonly tenantId: number;
  readonly subscriptions = new Set<Subscription>();
  readonly #memory = new LookMemory();
  readonly #first = Promise.withResolvers<void>();
  #isReady = false;
  /**
   * Time of the latest look whose changes are in the hints of all streams, by the clock of the database. A look is a read of the newest
   * rows. A hint is a message that data has changed, and its id is this time. A client that opens a new stream sends its last id, and gets
   * only the changes of later looks. So a hint with the time of a look must contain all changes of this look. For this reason, `tell` sets
   * the time and adds the changes in one step.
   */
  #toldMs = 0;
  /** Time (`performance.now()`) of the latest read of newest rows. */
  #lookedAtMs = 0;

  constructor(tenantId: number) {
    this.tenantId = tenantId;
    // Without this handler, a failed first read would end the process if no subscription waits for `ready`.
    this.#first.promise.catch(() => {});
  }

  /** Age in milliseconds of the oldest rows that the next read must include. */
  get backMs(): number {
    return this.#isReady ? BACK_MS : FIRST_BACK_MS;
  }

  /** True after the first read of the tenant's newest rows. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves after the first read of the tenant's newest rows. @throws the error of this read */
  async ready(): Promise<void> {
    await this.#first.promise;
  }

  /** Makes `ready` fail with the error of the first read. */
  fail(error: unknown): void {
    this.#first.reject(error);
  }

  /** Adds a subscription. @param onHint called for each hint (message that data has changed) that the new subscription sends */
  subscribe(staff: Staff, onHint: () => void): Subscription {
    const clock = {
      momentMs: () => this.#toldMs,
      nowMs: () => this.#memory.momentMs + performance.now() - this.#lookedAtMs,
    };
    const subscription = new Subscription(staff, clock, onHint);
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Stores the rows that were read for the tenant. @returns the new changes, or null if the read may have missed changes */
  remember(row: LookRow): Fact[] | null {
    const facts = this.#memory.remember(row, this.backMs);
    this.#lookedAtMs = performance.now();
    this.#isReady = true;
    return facts;
  }

  /** Adds changes to the hints of all subscriptions. @param facts changes of the latest read. Null if clients must read all data again */
  tell(facts: Fact[] | null): void {
    this.#toldMs = this.#memory.momentMs;
    for (const subscription of this.subscriptions) {
      if (facts === null) {
        subscription.resync();
      } else {
        subscription.tell(facts);
      }
    }
    this.#first.resolve();
  }

  /**
   * Returns the changes that a client missed while it had no stream.
   * @param lastEventId value of the header `Last-Event-ID`, which is the last id that the client got. The ids of hints and of `: beat`
   * comments are times in milliseconds of Unix time.
   * @param nowMs time of the call by the clock of the database, in milliseconds of Unix time
   * @returns the time in `lastEventId` and the changes since then, or null if the client must read all data again
   */
  missedSince(lastEventId: string, nowMs: number): { momentMs: number; facts: Fact[] } | null {
    const momentMs = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
    const isUsable = momentMs >= nowMs - BACK_MS && momentMs <= nowMs + AHEAD_MS;
    const facts = isUsable ? this.#memory.since(momentMs) : null;
    return facts === null ? null : { momentMs, facts };
  }
}

/**
 * Maximum time in milliseconds by which the time in a `Last-Event-ID` may be later than the call. Rounding can make the time a little
 * later.
 */
const AHEAD_MS = 1_000;
/** Longest expected time in milliseconds from the start of a transaction until its commit. */
export const LONGEST_TRANSACTION_MS = BACK_MS;
