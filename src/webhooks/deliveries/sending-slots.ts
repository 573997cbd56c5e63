import { Tally } from '#platform/lib/tally.ts';

/**
 * Number of sending slots: deliveries that may be under way at the same time in this process. Deliveries that are claimed before a slot is
 * free do not count.
 */
const SLOTS = 256;
/** Maximum number of sending slots for all failing and slow receivers together: half of all slots. */
const LAGGING_SLOTS = SLOTS / 2;
/** Maximum number of sending slots of one tenant while deliveries of other tenants wait: half of all slots. */
const TENANT_SLOTS = SLOTS / 2;
/**
 * Maximum number of deliveries under way. While deliveries to slow receivers keep their slots, healthy receivers may still take half of
 * `SLOTS`. If these receivers become slow too, further receivers may take slots. So the number can exceed `SLOTS`.
 */
const MAX_UNDER_WAY = 4 * SLOTS;
/** Number of sending slots of a new receiver. */
const FIRST_SHARE = 4;
/** Maximum number of sending slots of one receiver. */
const MAX_SHARE = 32;
/**
 * Milliseconds until the next claim of deliveries has ended. The wait for this claim and the claim itself take about 20 ms each, together
 * less than 50 ms. To give a fast receiver enough attempts until then, the worker claims some deliveries before a slot is free. It claims
 * only as many of them as the receiver probably accepts in these 50 ms.
 */
const AHEAD_MS = 50;
/** Maximum number of deliveries, for all receivers together, that are claimed before a slot is free. */
const MAX_AHEAD = 256;
/**
 * If at least this number of attempts to healthy receivers is under way, this process counts as busy. A busy process opens no further
 * connections to fast receivers, because deliveries would not arrive earlier, and each connection costs a TLS handshake.
 */
const BUSY_FROM = 64;
/** A receiver is fast if its fastest recent attempts take at most this time. A fast receiver needs few connections. */
const FAST_MS = 25;
/** If at least this number of deliveries to healthy receivers is claimed, more workers may search for due deliveries. */
const MANY = 32;
/**
 * Factor that limits the rise of `fastestMs`, the duration of a receiver's fastest recent attempts. Each slower success raises `fastestMs`,
 * but at most by this factor. So an old fast attempt loses its effect only after several slower attempts.
 */
const RISE = 1.05;
/** Time after which an attempt under way counts as slow. The receiver also counts as slow until this attempt has ended. */
const SLOW_AFTER_MS = 500;
/**
 * Number of consecutive failures from which a receiver counts as failing. A failing receiver gets no attempts for a pause after each
 * failure.
 */
const FAILURES_UNTIL_PROBED = 3;
/** Pause after each failure of a failing receiver, in which it gets no attempts. */
const PROBE_REST_MS = 250;
/** Maximum number of receivers in memory. If there are more, the least recently used receivers without a delivery under way are removed. */
const MAX_CACHED = 10_000;

/** State of one receiver. A receiver is one webhook URL. */
interface Receiver {
  /** Number of attempts to the receiver that may run at the same time. */
  share: number;
  /** Number of slots that deliveries to the receiver have taken. */
  underWay: number;
  /** Number of deliveries that were claimed before a slot was free. Such a delivery takes a slot when its attempt begins. */
  ahead: number;
  /** Number of attempts that run now. */
  sending: number;
  /**
   * Callbacks of the deliveries that wait until another attempt has ended, the oldest first. The argument becomes the result of `begin`.
   */
  waiting: ((mayBegin: boolean) => void)[];
  /** Number of slow attempts under way. */
  slow: number;
  /** Number of failed attempts since the last success. */
  failures: number;
  /**
   * Shortest duration of recent successful attempts, in milliseconds. Each slower success raises this value by at most 5 %. The value shows
   * best how fast the receiver is, because in a busy process most attempts also wait for the process.
   */
  fastestMs: number;
  /** Time (`performance.now()`) before which the receiver gets no slot. */
  restsUntilMs: number;
}

/**
 * Entry of `SendingSlots` for one delivery, from before the claim until the end of the attempt. It usually counts as a taken slot all this
 * time. If the delivery is claimed before a slot is free, the entry counts only from the beginning of the attempt.
 */
export interface Slot {
  readonly tenantId: number;
  readonly url: string;
  readonly receiver: Receiver;
  /** True if the delivery was claimed before a slot was free and its attempt has not begun. The slot then does not count as taken. */
  isAhead: boolean;
  /** Time (`performance.now()`) at which the attempt began. 0: the attempt has not begun. */
  beganAtMs: number;
}

/**
 * Decides how many deliveries may be under way to each receiver. A receiver is a registered URL, even if several credentials registered it.
 * Each receiver has a share of the slots. Successes change the share (`shareAfterSuccess`), and each failure halves it.
 *
 * A failing or slow receiver is called lagging. All lagging receivers together get at most half of the slots, so that other receivers need
 * not wait for them. While other tenants wait, one tenant also gets at most half of the slots. Callers of this class apply the limit of a
 * tenant. The slots are counted only in this process. If several workers run, a receiver has a share in each worker.
 */
export class SendingSlots {
  /** Receivers by URL, the least recently used first. */
  readonly #receivers = new Map<string, Receiver>();
  /** Slots of the attempts under way that are not yet slow, the oldest attempt first. */
  readonly #fresh = new Set<Slot>();
  /** Number of slots that each tenant has taken, by tenant id. */
  readonly #takenBy = new Tally<number>();
  readonly #probeRestMs: number;
  /** Number of slots that deliveries to all receivers have taken. */
  #underWay = 0;
  /** Number of slots that deliveries to failing and slow receivers have taken. */
  #lagging = 0;
  /** Number of deliveries to all receivers that were claimed before a slot was free, and whose attempts have not begun. */
  #ahead = 0;

  constructor({ probeRestMs = PROBE_REST_MS }: { probeRestMs?: number | undefined } = {}) {
    this.#probeRestMs = probeRestMs;
  }

  /** Returns how many more deliveries may be sent to the receiver now. If `url` is undefined, returns the number for a new receiver. */
  freeSlots(url?: string): number {
    const receiver = this.#receiverOf(url);
    return Math.max(0, this.#freeOf(receiver) - receiver.ahead);
  }

  /**
   * Returns how many more deliveries to the receiver may be claimed now. The result is the sum of two numbers:
   * - Free slots. Three limits apply: `slotLimit`, the receiver's share, and the total for all healthy (or all slow and failing) receivers.
   * - Deliveries that may be claimed before a slot is free. This number is zero unless the receiver's share is the lowest of the three
   *   limits, because the two other limits protect other receivers and tenants.
   */
  freeToClaim(url: string, slotLimit = SLOTS): number {
    const receiver = this.#receiverOf(url);
    const free = this.#freeOf(receiver);
    if (slotLimit < free) {
      return slotLimit;
    }
    const isAhead = mayClaimAhead(receiver) && this.#freeOfAll(receiver) > free;
    const ahead = isAhead ? Math.min(maxAhead(receiver) - receiver.ahead, MAX_AHEAD - this.#ahead) : 0;
    return free + Math.max(0, ahead);
  }

  #receiverOf(url: string | undefined): Receiver {
    this.markSlow();
    return (url === undefined ? undefined : this.#receivers.get(url)) ?? newReceiver();
  }

  /**
   * Returns how many more slots the receiver may take. Two limits apply: the receiver's own share, and the total for all healthy or all
   * lagging (slow or failing) receivers.
   */
  #freeOf(receiver: Receiver): number {
    return Math.max(0, Math.min(receiver.share - receiver.underWay, this.#freeOfAll(receiver)));
  }

  /**
   * Returns how many more slots the receiver may take if its own share is ignored. If the receiver is lagging (slow or failing), the limit
   * of all lagging receivers together applies. Otherwise the limit of all healthy receivers together applies. Returns 0 during the
   * receiver's pause after failures.
   */
  #freeOfAll(receiver: Receiver): number {
    if (performance.now() < receiver.restsUntilMs) {
      return 0;
    }
    const left = isLagging(receiver)
      ? LAGGING_SLOTS - this.#lagging
      : SLOTS - (this.#underWay - this.#lagging) - Math.min(this.#lagging, LAGGING_SLOTS);
    return Math.max(0, Math.min(left, MAX_UNDER_WAY - this.#underWay));
  }

  /** Number of deliveries to healthy receivers. Includes deliveries under way, and deliveries that were claimed before a slot was free. */
  get underWayToHealthy(): number {
    return this.#underWay - this.#lagging + this.#ahead;
  }

  /** True if many deliveries to healthy receivers are under way, or if lagging receivers have all slots that they may take. */
  get areManyTaken(): boolean {
    return this.underWayToHealthy >= MANY || this.#lagging >= LAGGING_SLOTS;
  }

  /**
   * Returns how many more slots the tenant can take until it has half of all slots. A tenant may take more than half only if no other
   * tenant waits for slots.
   */
  freeSlotsOfTenant(tenantId: number): number {
    return Math.max(0, TENANT_SLOTS - this.#takenBy.of(tenantId));
  }

  /** Adds the entry of a delivery. Never refuses, because a claimed delivery must be sent. So more slots can be taken than were free. */
  take(tenantId: number, url: string): Slot {
    const receiver = this.#receivers.get(url) ?? newReceiver();
    this.#receivers.delete(url);
    this.#receivers.set(url, receiver);
    const isAhead = mayClaimAhead(receiver) && receiver.underWay >= receiver.share;
    const slot = { tenantId, url, receiver, isAhead, beganAtMs: 0 };
    this.#count(slot, 1);
    this.#evictIdle();
    return slot;
  }

  /**
   * Waits until the attempt of the delivery may begin. The receiver's share limits the number of concurrent attempts. If `slot.isAhead`,
   * the delivery has no sending slot yet, and also waits until a slot is free or another attempt to the receiver has ended.
   * @returns true if the attempt may begin. If the receiver is or becomes slow or failing, or `dropWaiting` is called, the wait ends with
   * false. Then the attempt must not begin, and the slot is already released.
   */
  begin(slot: Slot): boolean | Promise<boolean> {
    const { receiver } = slot;
    // If no attempt to the receiver runs, the delivery must begin now. It would otherwise wait without end, because only the end of another
    // attempt to its receiver begins a waiting delivery.
    const hasSlot = !slot.isAhead || receiver.sending === 0 || this.#freeOfAll(receiver) > 0;
    if (hasSlot && receiver.sending < receiver.share) {
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

  /**
   * Records that the attempt of the slot has ended, and releases the slot. `isOk` is null if the outcome does not show the state of the
   * receiver, for example because the process stopped.
   */
  end(slot: Slot, isOk: boolean | null): void {
    const { receiver } = slot;
    const isBusy = this.#underWay - this.#lagging >= BUSY_FROM;
    this.#leaveTotals(receiver);
    if (!this.#fresh.delete(slot)) {
      receiver.slow -= 1;
    }
    if (isOk === true) {
      receiver.fastestMs = Math.min(performance.now() - slot.beganAtMs, receiver.fastestMs * RISE);
      receiver.failures = 0;
      receiver.share = shareAfterSuccess(receiver, isBusy);
    } else if (isOk === false) {
      receiver.failures += 1;
      receiver.share = Math.max(1, Math.floor(receiver.share / 2));
      const restMs = receiver.failures < FAILURES_UNTIL_PROBED ? 0 : this.#probeRestMs;
      receiver.restsUntilMs = performance.now() + restMs;
    }
    receiver.sending -= 1;
    this.#joinTotals(receiver);
    this.release(slot);
    this.#beginWaiting(receiver);
  }

  /**
   * Begins the next waiting delivery with the slot of an attempt that has ended. Then begins further waiting deliveries while slots are
   * free.
   */
  #beginWaiting(receiver: Receiver): void {
    let hasSlot = true;
    while (hasSlot && receiver.sending < receiver.share && receiver.waiting.length > 0) {
      receiver.waiting.shift()?.(true);
      hasSlot = this.#freeOfAll(receiver) > 0;
    }
  }

  /** Ends the wait of every delivery that waits in `begin`. There, `begin` returns false, so the caller must not begin the attempt. */
  dropWaiting(): void {
    this.#receivers.forEach(endWaits);
  }

  /** Releases the slot of a delivery whose attempt does not begin. */
  release(slot: Slot): void {
    this.#count(slot, -1);
  }

  /** Adds a slot to the counts when it is taken (`change` 1), and subtracts it when it is released (-1). */
  #count({ tenantId, receiver, isAhead }: Slot, change: 1 | -1): void {
    if (isAhead) {
      receiver.ahead += change;
      this.#ahead += change;
      return;
    }
    this.#leaveTotals(receiver);
    receiver.underWay += change;
    this.#joinTotals(receiver);
    this.#takenBy.add(tenantId, change);
  }

  #send(slot: Slot): void {
    if (slot.isAhead) {
      this.#count(slot, -1);
      slot.isAhead = false;
      this.#count(slot, 1);
    }
    slot.beganAtMs = performance.now();
    slot.receiver.sending += 1;
    this.#fresh.add(slot);
  }

  /**
   * Marks the attempts that have become slow, so their receivers are now slow. For deliveries that wait for these receivers, `begin` then
   * returns false, so their attempts do not begin. Callers must call this method often, because no timer calls it.
   */
  markSlow(): void {
    const slowIfBegunBefore = performance.now() - SLOW_AFTER_MS;
    for (const slot of this.#fresh) {
      if (slot.beganAtMs > slowIfBegunBefore) {
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
   * `#joinTotals` after the change, because the change may make the receiver slow, failing or healthy.
   */
  #leaveTotals(receiver: Receiver): void {
    this.#underWay -= receiver.underWay;
    this.#lagging -= isLagging(receiver) ? receiver.underWay : 0;
  }

  /** Adds a receiver to the totals after a change. If it is now slow or failing, `begin` returns false for its waiting deliveries. */
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
      if (receiver.underWay + receiver.ahead === 0) {
        this.#receivers.delete(url);
      }
    }
  }
}

function newReceiver(): Receiver {
  return {
    share: FIRST_SHARE,
    underWay: 0,
    ahead: 0,
    sending: 0,
    waiting: [],
    slow: 0,
    failures: 0,
    fastestMs: SLOW_AFTER_MS,
    restsUntilMs: 0,
  };
}

/**
 * Returns the share (number of slots) of a receiver after a successful attempt:
 * - The share grows by one if it is below `FIRST_SHARE` or fully used. While the process is busy, the share of a fast receiver grows only
 *   up to `FIRST_SHARE`, because more connections would not make deliveries faster.
 * - If at most half of the share is used, it shrinks by one, but not below `FIRST_SHARE`. The reason is that a receiver may begin to hang.
 *   With a large share, it would then take many slots, so few slots would be left for other failing and slow receivers.
 */
function shareAfterSuccess({ share, sending, fastestMs }: Receiver, isBusy: boolean): number {
  const isEnough = isBusy && fastestMs <= FAST_MS;
  if (share < FIRST_SHARE || (sending >= share && !isEnough)) {
    return Math.min(MAX_SHARE, share + 1);
  }
  return sending <= share / 2 ? Math.max(FIRST_SHARE, share - 1) : share;
}

function endWaits({ waiting }: Receiver): void {
  waiting.splice(0).forEach((endWait) => endWait(false));
}

/** Returns how many deliveries the receiver probably accepts in `AHEAD_MS` if it uses all slots of its share. */
function maxAhead({ share, fastestMs }: Receiver): number {
  return Math.floor((share * AHEAD_MS) / Math.max(1, fastestMs));
}

/** Returns true if the receiver has a larger share than a new receiver, and is neither failing nor slow. */
function mayClaimAhead(receiver: Receiver): boolean {
  return receiver.share > FIRST_SHARE && !isLagging(receiver);
}

function isLagging({ failures, slow }: Receiver): boolean {
  return failures >= FAILURES_UNTIL_PROBED || slow > 0;
}
