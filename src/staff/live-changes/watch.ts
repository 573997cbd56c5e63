import type { Staff } from '#access/tenants/tenants.ts';
import type { Fact } from './hint.ts';
import { LookMemory } from './look-memory.ts';
import type { LookRow } from './store.ts';
import { Subscription } from './subscription.ts';

/** Time that a look goes back, for the rows of transactions that took long to commit, and for clocks of processes that differ. */
const BACK_MS = 30_000;
/** Time that the first look goes back. It also finds what a client missed that comes back from another process within `BACK_MS`. */
const FIRST_BACK_MS = 2 * BACK_MS;

/** A tenant that callers of this process watch. */
export class Watch {
  readonly tenantId: number;
  readonly subscriptions = new Set<Subscription>();
  readonly #memory = new LookMemory();
  readonly #first = Promise.withResolvers<void>();
  #isReady = false;
  /** Moment of the latest look whose rows were told. An id of a stream is never later, because a client goes on from it. */
  #toldMs = 0;
  /** Time of the latest look in milliseconds of `performance.now()`. */
  #lookedAtMs = 0;

  constructor(tenantId: number) {
    this.tenantId = tenantId;
    this.#first.promise.catch(() => {}); // Each subscription that waits gets the error. There may be none by then.
  }

  /** Time in milliseconds that the next look goes back. */
  get backMs(): number {
    return this.#isReady ? BACK_MS : FIRST_BACK_MS;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves after the first look. @throws the error of the first look */
  async ready(): Promise<void> {
    await this.#first.promise;
  }

  fail(error: unknown): void {
    this.#first.reject(error);
  }

  subscribe(staff: Staff, onHint: () => void): Subscription {
    const clock = {
      momentMs: () => this.#toldMs,
      nowMs: () => this.#memory.momentMs + performance.now() - this.#lookedAtMs,
    };
    const subscription = new Subscription(staff, clock, onHint);
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Takes the rows of a look. @returns what is new, or null if the look may not show all that is new */
  remember(row: LookRow): Fact[] | null {
    const facts = this.#memory.remember(row, this.backMs);
    this.#lookedAtMs = performance.now();
    this.#isReady = true;
    return facts;
  }

  /** Tells all subscriptions. @param facts null if they must read everything again */
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
   * Returns what a client has missed that got its last hint at a moment.
   * @param lastEventId value of the header `Last-Event-ID`
   * @param nowMs time of the call, by the clock of the database
   * @returns the moment and the facts, or null if the client must read everything again
   */
  missedSince(lastEventId: string, nowMs: number): { momentMs: number; facts: Fact[] } | null {
    const momentMs = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
    const isUsable = momentMs >= nowMs - BACK_MS && momentMs <= nowMs + AHEAD_MS;
    const facts = isUsable ? this.#memory.since(momentMs) : null;
    return facts === null ? null : { momentMs, facts };
  }
}

/** Largest time in milliseconds that a moment may lie ahead of the call, because times are rounded. */
const AHEAD_MS = 1_000;
/** Time in milliseconds that a change may have begun before it was committed, at most. */
export const LONGEST_TRANSACTION_MS = BACK_MS;
