import { Tally } from '#platform/lib/tally.ts';

/** Number of deliveries that may be under way at the same time in this process. */
const SLOTS = 256;
/** Maximum number of slots for all failing and slow receivers together: half of all slots. */
const LAGGING_SLOTS = SLOTS / 2;
/** Maximum number of slots for all receivers of one tenant together while deliveries of other tenants wait: half of all slots. */
const TENANT_SLOTS = SLOTS / 2;
/**
 * Maximum number of deliveries under way if many receivers become slow at the same time. More than `SLOTS` may then be under way, because
 * healthy receivers still get their half of the slots.
 */
const MAX_UNDER_WAY = 4 * SLOTS;
/** Number of sending slots of a new receiver. */
const FIRST_SHARE = 4;
/** Maximum number of sending slots of one receiver. */
const MAX_SHARE = 32;
/**
 * Number of deliveries that may be claimed for a fast receiver, as a multiple of its share. Those beyond the share wait for the end of other
 * attempts. Without them, a claim for a single receiver would have few deliveries, and PostgreSQL would need twice the time for each of them.
 */
const CLAIMED_SHARES = 3;
/** Time after which an attempt under way counts as slow. Its receiver then also counts as slow. */
const SLOW_AFTER_MS = 500;
/** Number of failures in a row at which a receiver counts as failing. From then on it pauses after each failure. */
const FAILURES_UNTIL_PROBED = 3;
/** Pause of a failing receiver after each failure. */
const PROBE_REST_MS = 250;
/** Maximum number of receivers in memory. If there are more, the least recently used receivers without a delivery under way are removed. */
const MAX_CACHED = 10_000;

/** State of one receiver, which is one webhook URL. */
interface Receiver {
  /** Number of attempts to the receiver that may run at the same time. */
  share: number;
  /** Number of slots that are taken by deliveries to the receiver: those that are being sent, and those that wait for their turn. */
  underWay: number;
  /** Number of attempts that run now. */
  sending: number;
  /** Deliveries that wait for the end of another attempt, the oldest first. Each is called with the result of `begin`. */
  waiting: ((mayBegin: boolean) => void)[];
  /** Number of attempts under way that are slow. */
  slow: number;
  /** Number of failed attempts since the last success. */
  failures: number;
  /** Time (`performance.now()`) before which the receiver gets no slot. */
  restsUntilMs: number;
}

/** Sending slot of one delivery. It is taken before the delivery is claimed, and held until the attempt ends. */
export interface Slot {
  readonly tenantId: number;
  readonly url: string;
  readonly receiver: Receiver;
}

/**
 * Decides how many deliveries may be under way to each receiver. A receiver is a registered URL, even if several credentials registered it.
 * Each receiver has a share of the slots. Successes change the share (`shareAfterSuccess`), and each failure halves it. A failing or slow
 * receiver is called lagging. All lagging receivers together get at most half of the slots, so that other receivers need not wait for them.
 * While other tenants wait, all receivers of one tenant together also get at most half of the slots. `Claims` and `offerLease` apply this
 * rule for tenants. The slots are counted only in this process. If several workers run, a receiver has a share in each of them.
 */
export class SendingSlots {
  /** Receivers by URL, the least recently used first. */
  readonly #receivers = new Map<string, Receiver>();
  /** Start time (`performance.now()`) of each attempt under way that is not yet slow, the oldest first. */
  readonly #fresh = new Map<Slot, number>();
  /** Number of slots that each tenant has taken, by tenant id. */
  readonly #takenBy = new Tally<number>();
  readonly #probeRestMs: number;
  /** Number of slots that deliveries to all receivers have taken. */
  #underWay = 0;
  /** Number of slots that deliveries to failing and slow receivers have taken. */
  #lagging = 0;

  constructor({ probeRestMs = PROBE_REST_MS }: { probeRestMs?: number | undefined } = {}) {
    this.#probeRestMs = probeRestMs;
  }

  /** Returns how many more deliveries may be sent to the receiver now. Without a URL, returns the number for a new receiver. */
  freeSlots(url?: string): number {
    const receiver = this.#receiverOf(url);
    return this.#freeWithin(receiver, receiver.share);
  }

  /**
   * Returns how many more deliveries to the receiver may be claimed now. This is the number of its free slots. For a receiver whose share
   * has grown, it is more, unless claimed deliveries already wait for their turn.
   */
  freeToClaim(url: string): number {
    const receiver = this.#receiverOf(url);
    const { share, underWay } = receiver;
    const isAhead = share > FIRST_SHARE && underWay <= share && !isLagging(receiver);
    return this.#freeWithin(receiver, isAhead ? CLAIMED_SHARES * share : share);
  }

  #receiverOf(url: string | undefined): Receiver {
    this.markSlow();
    return (url === undefined ? undefined : this.#receivers.get(url)) ?? newReceiver();
  }

  /** Returns how many more slots the receiver may take until it holds `limit` slots, or until its half of all slots is taken. */
  #freeWithin(receiver: Receiver, limit: number): number {
    if (performance.now() < receiver.restsUntilMs) {
      return 0;
    }
    const left = isLagging(receiver)
      ? LAGGING_SLOTS - this.#lagging
      : SLOTS - (this.#underWay - this.#lagging) - Math.min(this.#lagging, LAGGING_SLOTS);
    return Math.max(0, Math.min(limit - receiver.underWay, left, MAX_UNDER_WAY - this.#underWay));
  }

  /** Number of deliveries under way to receivers that are neither failing nor slow. */
  get underWayToHealthy(): number {
    return this.#underWay - this.#lagging;
  }

  /**
   * Returns how many more slots the tenant can take until it holds half of all slots. It may take more than half only if no other tenant
   * waits for slots.
   */
  freeSlotsOfTenant(tenantId: number): number {
    return Math.max(0, TENANT_SLOTS - this.#takenBy.of(tenantId));
  }

  /** Takes a slot. Never refuses, because a delivery that is already claimed must be sent, even if no slot is free any more. */
  take(tenantId: number, url: string): Slot {
    const receiver = this.#receivers.get(url) ?? newReceiver();
    this.#receivers.delete(url);
    this.#receivers.set(url, receiver);
    this.#leaveTotals(receiver);
    receiver.underWay += 1;
    this.#joinTotals(receiver);
    this.#takenBy.add(tenantId, 1);
    this.#evictIdle();
    return { tenantId, url, receiver };
  }

  /**
   * Waits until the attempt of the slot may begin: at most as many attempts as the share of the receiver run at the same time.
   * @returns false if the receiver became slow or failing while the delivery waited. The attempt must not begin then, and the slot is
   * released.
   */
  begin(slot: Slot): boolean | Promise<boolean> {
    const { receiver } = slot;
    if (receiver.sending < receiver.share) {
      this.#send(slot);
      return true;
    }
    if (isLagging(receiver)) {
      this.release(slot);
      return false;
    }
    return new Promise((resolve) => {
      receiver.waiting.push((mayBegin) => {
        if (mayBegin) {
          this.#send(slot);
        } else {
          this.release(slot);
        }
        resolve(mayBegin);
      });
    });
  }

  /** Records that the attempt of the slot has ended, and releases the slot. `isOk` is null if the outcome says nothing about the receiver. */
  end(slot: Slot, isOk: boolean | null): void {
    const { receiver } = slot;
    this.#leaveTotals(receiver);
    if (!this.#fresh.delete(slot)) {
      receiver.slow -= 1;
    }
    if (isOk === true) {
      receiver.failures = 0;
      receiver.share = shareAfterSuccess(receiver);
    } else if (isOk === false) {
      receiver.failures += 1;
      receiver.share = Math.max(1, Math.floor(receiver.share / 2));
      const restMs = receiver.failures < FAILURES_UNTIL_PROBED ? 0 : this.#probeRestMs;
      receiver.restsUntilMs = performance.now() + restMs;
    }
    receiver.sending -= 1;
    receiver.underWay -= 1;
    this.#joinTotals(receiver);
    this.#takenBy.add(slot.tenantId, -1);
    while (receiver.sending < receiver.share && receiver.waiting.length > 0) {
      receiver.waiting.shift()?.(true);
    }
  }

  /** Ends the wait of all deliveries that wait for their turn. Their attempts must not begin. */
  dropWaiting(): void {
    this.#receivers.forEach(endWaits);
  }

  /** Releases the slot of a delivery whose attempt does not begin. */
  release({ tenantId, receiver }: Slot): void {
    this.#leaveTotals(receiver);
    receiver.underWay -= 1;
    this.#joinTotals(receiver);
    this.#takenBy.add(tenantId, -1);
  }

  #send(slot: Slot): void {
    slot.receiver.sending += 1;
    this.#fresh.set(slot, performance.now());
  }

  /**
   * Marks the attempts that have become slow. The deliveries that wait for a receiver with a slow attempt must not begin then. Call this
   * method often, because no timer does.
   */
  markSlow(): void {
    const slowIfBegunBefore = performance.now() - SLOW_AFTER_MS;
    for (const [slot, beganAt] of this.#fresh) {
      if (beganAt > slowIfBegunBefore) {
        return;
      }
      this.#fresh.delete(slot);
      this.#leaveTotals(slot.receiver);
      slot.receiver.slow += 1;
      this.#joinTotals(slot.receiver);
    }
  }

  /**
   * Subtracts a receiver from the totals `#underWay` and `#lagging`. Code that changes a receiver calls this method before the change, and
   * `#joinTotals` after the change. The change may make the receiver slow, failing or healthy.
   */
  #leaveTotals(receiver: Receiver): void {
    this.#underWay -= receiver.underWay;
    this.#lagging -= isLagging(receiver) ? receiver.underWay : 0;
  }

  /** Adds a receiver to the totals after a change. If the receiver is slow or failing, ends the waits of its deliveries. */
  #joinTotals(receiver: Receiver): void {
    this.#underWay += receiver.underWay;
    this.#lagging += isLagging(receiver) ? receiver.underWay : 0;
    if (isLagging(receiver)) {
      endWaits(receiver);
    }
  }

  #evictIdle(): void {
    for (const [url, receiver] of this.#receivers) {
      if (this.#receivers.size <= MAX_CACHED) {
        return;
      }
      if (receiver.underWay === 0) {
        this.#receivers.delete(url);
      }
    }
  }
}

function newReceiver(): Receiver {
  return { share: FIRST_SHARE, underWay: 0, sending: 0, waiting: [], slow: 0, failures: 0, restsUntilMs: 0 };
}

/**
 * Returns the share of a receiver after a successful attempt. The share grows by one if it is below `FIRST_SHARE` or fully used. If at most
 * half of the share is used, it shrinks by one, but not below `FIRST_SHARE`. Without shrinking, a receiver with a large share could begin
 * to hang. It could then fill the slots that all failing and slow receivers share, and the other receivers of this kind would wait.
 */
function shareAfterSuccess({ share, sending }: Receiver): number {
  if (share < FIRST_SHARE || sending >= share) {
    return Math.min(MAX_SHARE, share + 1);
  }
  return sending <= share / 2 ? Math.max(FIRST_SHARE, share - 1) : share;
}

function endWaits({ waiting }: Receiver): void {
  waiting.splice(0).forEach((endWait) => endWait(false));
}

function isLagging({ failures, slow }: Receiver): boolean {
  return failures >= FAILURES_UNTIL_PROBED || slow > 0;
}
