import { Tally } from '#platform/lib/tally.ts';

/** Deliveries under way at once in this process. */
const SLOTS = 256;
/** What receivers that fail or linger may take of them together, however many they are: half. */
const LAGGING_SLOTS = SLOTS / 2;
/** What the receivers of one tenant may take of them together while deliveries of other tenants wait: half. */
const TENANT_SLOTS = SLOTS / 2;
/** Where many turn slow at once the others keep their half; so many connections are the end in any case. */
const MAX_UNDER_WAY = 4 * SLOTS;
/** A receiver's own share of the slots: at first, and at most. */
const FIRST_SHARE = 4;
const MAX_SHARE = 32;
/** An attempt that takes longer than this lingers. */
const LINGERING_MS = 500;
/** From so many failures in a row on a receiver counts as failing, and is only probed: one attempt, then a rest. */
const FAILURES_UNTIL_PROBED = 3;
const PROBE_REST_MS = 250;
/** Receivers that are remembered; beyond them those without anything under way begin anew. */
const MAX_CACHED = 10_000;

interface Receiver {
  share: number;
  underWay: number;
  /** How many of those under way linger. */
  lingering: number;
  /** In a row, up to the last attempt. */
  failures: number;
  restsUntilMs: number;
}

/** A place for one delivery, taken before it is claimed and held until its outcome is recorded. */
export interface Slot {
  readonly tenantId: number;
  readonly url: string;
  readonly receiver: Receiver;
}

/**
 * Who may send how much at once. Each receiver (a registered URL, whoever registered it) has a share of its own: a few slots at
 * first, one more with each success while all of them are taken, half with each failure. Those that fail or linger share one half
 * of all slots, so that nobody waits for them. So do the receivers of one tenant, while others wait: who waits is known to `Claims`.
 * Counted in this process alone: with several workers, a receiver has a share in each.
 */
export class SendingSlots {
  /** By URL, the least recently used first. */
  readonly #receivers = new Map<string, Receiver>();
  /** When those attempts began that do not linger yet, the oldest first. */
  readonly #fresh = new Map<Slot, number>();
  /** How many slots are taken, by tenant. */
  readonly #takenBy = new Tally<number>();
  readonly #probeRestMs: number;
  #underWay = 0;
  /** Of those, to receivers that fail or linger. */
  #lagging = 0;

  constructor({ probeRestMs = PROBE_REST_MS }: { probeRestMs?: number | undefined } = {}) {
    this.#probeRestMs = probeRestMs;
  }

  /** How many more deliveries may go to a receiver now; without a URL, to one never seen before. */
  room(url?: string): number {
    this.#noteLingering();
    const receiver = (url === undefined ? undefined : this.#receivers.get(url)) ?? newReceiver();
    if (performance.now() < receiver.restsUntilMs) {
      return 0;
    }
    const left = isLagging(receiver)
      ? LAGGING_SLOTS - this.#lagging
      : SLOTS - (this.#underWay - this.#lagging) - Math.min(this.#lagging, LAGGING_SLOTS);
    return Math.max(0, Math.min(receiver.share - receiver.underWay, left, MAX_UNDER_WAY - this.#underWay));
  }

  /** How many slots a tenant has left of the half that is its own; beyond them it takes what no other tenant waits for. */
  roomOfTenant(tenantId: number): number {
    return Math.max(0, TENANT_SLOTS - this.#takenBy.of(tenantId));
  }

  /** Takes a slot. Nobody is refused here: what is claimed already has to go out, even where the room has gone since. */
  take(tenantId: number, url: string): Slot {
    const receiver = this.#receivers.get(url) ?? newReceiver();
    this.#receivers.delete(url);
    this.#receivers.set(url, receiver);
    this.#change(receiver, { underWay: receiver.underWay + 1 });
    this.#takenBy.add(tenantId, 1);
    this.#forgetIdle();
    return { tenantId, url, receiver };
  }

  /** The attempt begins now. */
  begin(slot: Slot): void {
    this.#fresh.set(slot, performance.now());
  }

  /** The attempt that began has ended; `isOk` is null where that says nothing about the receiver. */
  end(slot: Slot, isOk: boolean | null): void {
    const { receiver } = slot;
    const lingering = receiver.lingering - (this.#fresh.delete(slot) ? 0 : 1);
    if (isOk === null) {
      this.#change(receiver, { lingering });
    } else if (isOk) {
      this.#change(receiver, { lingering, failures: 0, share: shareAfterSuccess(receiver) });
    } else {
      const failures = receiver.failures + 1;
      const restMs = failures < FAILURES_UNTIL_PROBED ? 0 : this.#probeRestMs;
      const share = Math.max(1, Math.floor(receiver.share / 2));
      this.#change(receiver, { lingering, failures, share, restsUntilMs: performance.now() + restMs });
    }
  }

  release({ tenantId, receiver }: Slot): void {
    this.#change(receiver, { underWay: receiver.underWay - 1 });
    this.#takenBy.add(tenantId, -1);
  }

  #noteLingering(): void {
    const longAgo = performance.now() - LINGERING_MS;
    for (const [slot, beganAt] of this.#fresh) {
      if (beganAt > longAgo) {
        return;
      }
      this.#fresh.delete(slot);
      this.#change(slot.receiver, { lingering: slot.receiver.lingering + 1 });
    }
  }

  /** The only way a receiver changes, so that the two sums stay right whichever half it is in before and after. */
  #change(receiver: Receiver, changes: Partial<Receiver>): void {
    this.#underWay -= receiver.underWay;
    this.#lagging -= isLagging(receiver) ? receiver.underWay : 0;
    Object.assign(receiver, changes);
    this.#underWay += receiver.underWay;
    this.#lagging += isLagging(receiver) ? receiver.underWay : 0;
  }

  #forgetIdle(): void {
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
  return { share: FIRST_SHARE, underWay: 0, lingering: 0, failures: 0, restsUntilMs: 0 };
}

/**
 * A share that is not used goes back step by step: grown for a rush of long ago, it would let a receiver that begins to hang fill
 * the half of those that lag, and keep the slow ones among them waiting.
 */
function shareAfterSuccess({ share, underWay }: Receiver): number {
  if (share < FIRST_SHARE || underWay >= share) {
    return Math.min(MAX_SHARE, share + 1);
  }
  return underWay <= share / 2 ? Math.max(FIRST_SHARE, share - 1) : share;
}

function isLagging({ failures, lingering }: Receiver): boolean {
  return failures >= FAILURES_UNTIL_PROBED || lingering > 0;
}
