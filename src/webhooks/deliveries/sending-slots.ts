import { Tally } from '#platform/lib/tally.ts';

/** Number of deliveries that may be under way at the same time in this process. Deliveries that are claimed ahead do not count. */
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
 * Time in which a receiver is expected to accept the deliveries that are claimed ahead for it. It covers the wait before the next claim and
 * the claim itself, which take about 20 ms each. So the receiver gets attempts without a pause, and each claim has many deliveries.
 */
const AHEAD_MS = 50;
/** Maximum number of deliveries that are claimed ahead for all receivers together. */
const MAX_AHEAD = 256;
/**
 * Number of attempts under way to healthy receivers with which this process is busy. More attempts to a fast receiver would then not arrive
 * earlier, but each further connection costs a TLS handshake.
 */
const BUSY_FROM = 64;
/** Longest duration of the fastest attempts of a fast receiver. A slower receiver needs more connections for as many deliveries. */
const FAST_MS = 25;
/** Number of deliveries to healthy receivers, under way or claimed ahead, from which other workers should help with further deliveries. */
const MANY = 32;
/** Factor by which `fastestMs` rises with each success, so that old durations are forgotten. */
const RISE = 1.05;
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
  /** Number of slots that deliveries to the receiver have taken. */
  underWay: number;
  /** Number of deliveries that are claimed ahead: they have taken no slot yet. */
  ahead: number;
  /** Number of attempts that run now. */
  sending: number;
  /** Deliveries that wait for the end of another attempt, the oldest first. Each is called with the result of `begin`. */
  waiting: ((mayBegin: boolean) => void)[];
  /** Number of attempts under way that are slow. */
  slow: number;
  /** Number of failed attempts since the last success. */
  failures: number;
  /**
   * Duration of the fastest recent successful attempts, in milliseconds. In a busy process, most attempts take longer than the receiver
   * needs, because they wait for the process.
   */
  fastestMs: number;
  /** Time (`performance.now()`) before which the receiver gets no slot. */
  restsUntilMs: number;
}

/**
 * Sending slot of one delivery. It is taken before the delivery is claimed, and held until the attempt ends. For a delivery that is claimed
 * ahead, it is only a place in the queue of the receiver until the attempt begins.
 */
export interface Slot {
  readonly tenantId: number;
  readonly url: string;
  readonly receiver: Receiver;
  /** True while the delivery is claimed ahead. It does not count among the slots then. */
  isAhead: boolean;
  /** Time (`performance.now()`) at which the attempt began. 0: the attempt has not begun. */
  beganAtMs: number;
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
  /** Slots of the attempts under way that are not yet slow, the oldest attempt first. */
  readonly #fresh = new Set<Slot>();
  /** Number of slots that each tenant has taken, by tenant id. */
  readonly #takenBy = new Tally<number>();
  readonly #probeRestMs: number;
  /** Number of slots that deliveries to all receivers have taken. */
  #underWay = 0;
  /** Number of slots that deliveries to failing and slow receivers have taken. */
  #lagging = 0;
  /** Number of deliveries to all receivers that are claimed ahead. */
  #ahead = 0;

  constructor({ probeRestMs = PROBE_REST_MS }: { probeRestMs?: number | undefined } = {}) {
    this.#probeRestMs = probeRestMs;
  }

  /** Returns how many more deliveries may be sent to the receiver now. Without a URL, returns the number for a new receiver. */
  freeSlots(url?: string): number {
    const receiver = this.#receiverOf(url);
    return Math.max(0, this.#freeOf(receiver) - receiver.ahead);
  }

  /**
   * Returns how many more deliveries to the receiver may be claimed now. This is the number of its free slots, but at most `slotLimit`. If
   * the receiver gets all these slots, and still not all slots are taken, further deliveries may be claimed ahead.
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

  /** Returns how many more slots the receiver may take until it holds its share, or until its half of all slots is taken. */
  #freeOf(receiver: Receiver): number {
    return Math.max(0, Math.min(receiver.share - receiver.underWay, this.#freeOfAll(receiver)));
  }

  /** Returns how many slots are free in the half of all slots that the receiver uses. Returns 0 while the receiver rests. */
  #freeOfAll(receiver: Receiver): number {
    if (performance.now() < receiver.restsUntilMs) {
      return 0;
    }
    const left = isLagging(receiver)
      ? LAGGING_SLOTS - this.#lagging
      : SLOTS - (this.#underWay - this.#lagging) - Math.min(this.#lagging, LAGGING_SLOTS);
    return Math.max(0, Math.min(left, MAX_UNDER_WAY - this.#underWay));
  }

  /** Number of deliveries to receivers that are neither failing nor slow, under way or claimed ahead. */
  get underWayToHealthy(): number {
    return this.#underWay - this.#lagging + this.#ahead;
  }

  /** True if many deliveries to healthy receivers are under way, or as many to failing and slow receivers as possible. */
  get areManyTaken(): boolean {
    return this.underWayToHealthy >= MANY || this.#lagging >= LAGGING_SLOTS;
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
    const isAhead = mayClaimAhead(receiver) && receiver.underWay >= receiver.share;
    const slot = { tenantId, url, receiver, isAhead, beganAtMs: 0 };
    this.#count(slot, 1);
    this.#evictIdle();
    return slot;
  }

  /**
   * Waits until the attempt of the slot may begin: at most as many attempts as the share of the receiver run at the same time. A delivery
   * that is claimed ahead also waits until a slot is free, or until another attempt to its receiver has ended.
   * @returns false if the receiver became slow or failing while the delivery waited. The attempt must not begin then, and the slot is
   * released.
   */
  begin(slot: Slot): boolean | Promise<boolean> {
    const { receiver } = slot;
    // If no attempt to the receiver runs, no end of an attempt would let the delivery begin later.
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

  /** Records that the attempt of the slot has ended, and releases the slot. `isOk` is null if the outcome says nothing about the receiver. */
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

  /** Lets the next waiting delivery use the slot of an attempt that has ended. Further waiting deliveries begin while slots are free. */
  #beginWaiting(receiver: Receiver): void {
    let hasSlot = true;
    while (hasSlot && receiver.sending < receiver.share && receiver.waiting.length > 0) {
      receiver.waiting.shift()?.(true);
      hasSlot = this.#freeOfAll(receiver) > 0;
    }
  }

  /** Ends the wait of all deliveries that wait for their turn. Their attempts must not begin. */
  dropWaiting(): void {
    this.#receivers.forEach(endWaits);
  }

  /** Releases the slot of a delivery whose attempt does not begin. */
  release(slot: Slot): void {
    this.#count(slot, -1);
  }

  /** Counts a slot that is taken (1) or released (-1). */
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
   * Marks the attempts that have become slow. The deliveries that wait for a receiver with a slow attempt must not begin then. Call this
   * method often, because no timer does.
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
 * Returns the share of a receiver after a successful attempt. The share grows by one if it is below `FIRST_SHARE` or fully used, but while
 * the process is busy, the share of a fast receiver does not grow beyond `FIRST_SHARE`. If at most half of the share is used, it shrinks by
 * one, but not below `FIRST_SHARE`. Without shrinking, a receiver with a large share could begin to hang. It could then fill the slots that
 * all failing and slow receivers share, and the other receivers of this kind would wait.
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

/** Returns how many deliveries the receiver is expected to accept in `AHEAD_MS`, if all its slots are used. */
function maxAhead({ share, fastestMs }: Receiver): number {
  return Math.floor((share * AHEAD_MS) / Math.max(1, fastestMs));
}

/** Returns true if the receiver has used more slots than its first ones, and is neither failing nor slow. */
function mayClaimAhead(receiver: Receiver): boolean {
  return receiver.share > FIRST_SHARE && !isLagging(receiver);
}

function isLagging({ failures, slow }: Receiver): boolean {
  return failures >= FAILURES_UNTIL_PROBED || slow > 0;
}
