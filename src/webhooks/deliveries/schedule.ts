import { LRUCache } from 'lru-cache';
import { Tally } from '#platform/lib/tally.ts';
import type { DueCredential } from '../events/events.ts';
import { CLAIM_SIZE } from './store.ts';

/** Number of claimed deliveries that this process may hold at the same time. Each has a place until its attempt has ended. */
const PLACES = 512;
/** Maximum number of these places for all lagging receivers together, and for one tenant while other tenants wait. */
const HALF = PLACES / 2;
/** Maximum number of attempts to one receiver that are under way at the same time. */
const RECEIVER_PLACES = 32;
/**
 * A receiver whose attempts succeed within this time is quick. It may get all places that nobody else wants. Those without an attempt under
 * way are claimed ahead: they wait in memory until an attempt ends, so the receiver does not wait for the next claim.
 */
const QUICK_MS = 50;
/** When an attempt takes longer than this, what was claimed ahead for its receiver is given back, and nothing more is claimed ahead. */
const AHEAD_MS = 100;
/**
 * Maximum number of attempts under way to all quick receivers together, in equal parts. More would not be faster, because this process is
 * then slower than the receivers. But each needs a connection, and to open one costs as much as twenty attempts.
 */
const QUICK_ATTEMPTS = 100;
/** Places of a receiver that has not succeeded yet. So a worker that starts does not open hundreds of connections to receivers that hang. */
const NEW_RECEIVER_PLACES = 2;
/**
 * Maximum number of places in use. Receivers may begin to hang while they hold more than half of the places. The other receivers still get
 * half of the places, so the number can exceed `PLACES` until the hanging attempts reach their time limit.
 */
const MOST_TAKEN = 2 * PLACES;
/**
 * A receiver lags while an attempt to it takes longer than this. It is no longer quick after successes that took this time together. A few
 * slow ones show nothing, because the process itself is slow while it opens many connections.
 */
const SLOW_MS = 1_000;
/**
 * Number of failures in a row from which a receiver is failing. It is more than one, because a receiver with a single failure would
 * otherwise wait for the places of receivers that hang.
 */
const FAILURES_UNTIL_PROBED = 3;
const MAX_RECEIVERS = 10_000;
/** Maximum number of deliveries of one revoked credential that one claim stops. The others wait for a later claim. */
const STOP_SIZE = 20;

/** Receiver of deliveries: one webhook URL, whichever credential has registered it. */
interface Receiver {
  /** Maximum number of places that it may get. */
  places: number;
  taken: number;
  /** Places of the attempts under way. The one that began first is first. */
  underWay: Set<Place>;
  ahead: Place[];
  failures: number;
  /** Milliseconds that the successes since the last quick one took together. */
  slowMs: number;
  /** Time (`performance.now()`) before which the receiver gets no attempt. */
  restsUntilMs: number;
}

/** Queue of which the next claim takes `count` deliveries. */
type Chosen = DueCredential & { count: number; receiver: Receiver };

/** Place of one claimed delivery. */
interface Place {
  tenantId: number;
  receiver: Receiver;
  begunAtMs: number;
  /** Says when the attempt may begin. False: the receiver began to lag, so the delivery must be given back. */
  mayBegin: PromiseWithResolvers<boolean>;
}

/**
 * Says which due deliveries this process claims next. It keeps the credentials with due deliveries in the order of their turns, but not the
 * deliveries, and the places of those that it has claimed.
 *
 * A receiver lags if its last three attempts failed, or if an attempt to it has been under way for over a second. A slow attempt that has
 * ended does not count, because the receiver could not show that it is quick again while others hang.
 */
export class Schedule {
  readonly #probeRestMs: number;
  /** Queues by credential id. The next claim begins with the first one. */
  readonly #queues = new Map<string, DueCredential>();
  readonly #receivers = new LRUCache<string, Receiver>({ max: MAX_RECEIVERS, memoMethod: newReceiver });
  /** Receivers that have places. */
  readonly #served = new Set<Receiver>();
  readonly #takenBy = new Tally<number>();
  #taken = 0;
  /** Places of lagging receivers. This number is from the last look, like all that depends on the time. */
  #takenByLagging = 0;
  #lookedAtMs = 0;
  /** Maximum number of attempts under way to one quick receiver. */
  #quickPart = RECEIVER_PLACES;

  /** @param probeRestMs pause in milliseconds after each failure of a failing receiver, in which it gets no attempt */
  constructor(probeRestMs: number) {
    this.#probeRestMs = probeRestMs;
  }

  get taken(): number {
    return this.#taken;
  }

  get takenByHealthy(): number {
    return this.#taken - this.#takenByLagging;
  }

  /** Adds a queue behind the others. A queue that is already there keeps its turn. One without a URL has deliveries to stop. */
  add(queue: DueCredential): void {
    this.#queues.set(queue.credentialId, queue);
  }

  /** Finds out which receivers lag. A receiver that is no longer quick gives back what was claimed ahead for it. */
  #look(): void {
    this.#lookedAtMs = performance.now();
    this.#takenByLagging = 0;
    for (const receiver of this.#served) {
      if (this.#ageOf(receiver) > AHEAD_MS) {
        receiver.places = Math.min(receiver.places, RECEIVER_PLACES);
        giveBack(receiver);
      }
      this.#takenByLagging += this.#isLagging(receiver) ? receiver.taken : 0;
    }
  }

  /**
   * Chooses what the next claim takes, at most `CLAIM_SIZE` deliveries, and removes the chosen queues. Each queue gets an equal part of the
   * claim and of the places. What is left then goes to the queues in their order: only then, a tenant gets more than half of all places,
   * and a receiver gets deliveries that are claimed ahead. The deliveries that the claim finds take places later.
   */
  choose(): Chosen[] {
    this.#look();
    const { ready, isAll } = this.#ready();
    const active = ready.filter(isActive);
    const part = Math.ceil(CLAIM_SIZE / ready.length);
    let left = CLAIM_SIZE;
    const take = (chosen: Chosen, most: number) => {
      const count = Math.max(0, Math.min(left, part - chosen.count, most));
      chosen.count += count;
      left -= count;
      if (isActive(chosen)) {
        this.#count(chosen, count);
      }
    };
    // With larger parts for the first receivers, a worker opens many more connections.
    const waiting = Array.from(this.#queues.values(), ({ webhookUrl: url }) => this.#receivers.peek(url) ?? url);
    const receivers = new Set([...waiting, ...this.#served]).size;
    const equalPart = Math.min(RECEIVER_PLACES, Math.ceil(PLACES / receivers));
    this.#quickPart = Math.min(RECEIVER_PLACES, Math.ceil(QUICK_ATTEMPTS / receivers));
    for (const chosen of ready) {
      const { receiver, tenantId } = chosen;
      take(chosen, isActive(chosen) ? Math.min(this.#freeAt(receiver, equalPart), this.#freeOf(tenantId)) : STOP_SIZE);
    }
    if (isAll) {
      active.forEach((chosen) => take(chosen, this.#freeAt(chosen.receiver, equalPart)));
      active.forEach((chosen) => take(chosen, this.#freeAt(chosen.receiver)));
    }
    active.forEach((chosen) => this.#count(chosen, -chosen.count));
    const chosen = ready.filter(({ count }) => count > 0);
    chosen.forEach(({ credentialId }) => this.#queues.delete(credentialId));
    return chosen;
  }

  /** Takes a place for a claimed delivery. Never refuses, because a claimed delivery must be sent or given back. */
  take(tenantId: number, url: string): Place {
    const receiver = this.#receivers.memo(url);
    const place = { tenantId, receiver, begunAtMs: 0, mayBegin: Promise.withResolvers<boolean>() };
    this.#count(place, 1);
    receiver.ahead.push(place);
    this.#beginNext(receiver);
    return place;
  }

  /** Frees a place. `isOk` is null if the outcome does not show the state of the receiver, for example because the process stopped. */
  end(place: Place, isOk: boolean | null): void {
    const { receiver, begunAtMs } = place;
    this.#count(place, -1);
    receiver.underWay.delete(place);
    if (isOk === true) {
      const tookMs = performance.now() - begunAtMs;
      receiver.failures = 0;
      receiver.slowMs = tookMs <= QUICK_MS ? 0 : receiver.slowMs + tookMs;
      receiver.places = isQuick(receiver) ? PLACES : RECEIVER_PLACES;
    } else if (isOk === false) {
      receiver.failures += 1;
      if (isFailing(receiver)) {
        receiver.restsUntilMs = performance.now() + this.#probeRestMs;
        giveBack(receiver);
      }
    }
    this.#beginNext(receiver);
  }

  /** Begins attempts that were claimed ahead, as many as the receiver may have under way. */
  #beginNext(receiver: Receiver): void {
    const most = isQuick(receiver) && !this.#isLagging(receiver) ? this.#quickPart : RECEIVER_PLACES;
    receiver.ahead.splice(0, Math.max(0, most - receiver.underWay.size)).forEach(begin);
  }

  /** Queues of tenants that hold half of all places come last. `isAll` says that no queue of another tenant is left out. */
  #ready(): { ready: Chosen[]; isAll: boolean } {
    const first: Chosen[] = [];
    const overHalf: Chosen[] = [];
    for (const queue of this.#queues.values()) {
      const receiver = this.#receivers.memo(queue.webhookUrl);
      const isSent = isActive(queue);
      if (!isSent || this.#freeAt(receiver) > 0) {
        (isSent && this.#freeOf(queue.tenantId) === 0 ? overHalf : first).push({ ...queue, receiver, count: 0 });
      }
      if (first.length === CLAIM_SIZE) {
        return { ready: first, isAll: false };
      }
    }
    return { ready: [...first, ...overHalf].slice(0, CLAIM_SIZE), isAll: true };
  }

  /** @param most maximum number of places of a receiver that does not lag */
  #freeAt(receiver: Receiver, most = Number.POSITIVE_INFINITY): number {
    if (this.#lookedAtMs < receiver.restsUntilMs) {
      return 0;
    }
    const isLagging = this.#isLagging(receiver);
    const places = Math.min(receiver.places, isLagging ? RECEIVER_PLACES : most);
    const ofReceiver = isFailing(receiver) ? 1 : places;
    const ofKind = isLagging
      ? HALF - this.#takenByLagging
      : PLACES - this.takenByHealthy - Math.min(this.#takenByLagging, HALF);
    return Math.max(0, Math.min(ofReceiver - receiver.taken, ofKind, MOST_TAKEN - this.#taken));
  }

  #freeOf(tenantId: number): number {
    return Math.max(0, HALF - this.#takenBy.of(tenantId));
  }

  #count({ tenantId, receiver }: Pick<Place, 'tenantId' | 'receiver'>, change: number): void {
    receiver.taken += change;
    this.#taken += change;
    this.#takenByLagging += this.#isLagging(receiver) ? change : 0;
    this.#takenBy.add(tenantId, change);
    if (receiver.taken > 0) {
      this.#served.add(receiver);
    } else {
      this.#served.delete(receiver);
    }
  }

  #isLagging(receiver: Receiver): boolean {
    return isFailing(receiver) || this.#ageOf(receiver) > SLOW_MS;
  }

  /** Milliseconds from the begin of the oldest attempt under way to the last look. */
  #ageOf({ underWay: [oldest] }: Receiver): number {
    return oldest === undefined ? 0 : this.#lookedAtMs - oldest.begunAtMs;
  }
}

function newReceiver(): Receiver {
  return {
    places: NEW_RECEIVER_PLACES,
    taken: 0,
    underWay: new Set(),
    ahead: [],
    failures: 0,
    slowMs: 0,
    restsUntilMs: 0,
  };
}

function isActive({ webhookUrl }: DueCredential): boolean {
  return webhookUrl !== '';
}

function isQuick({ slowMs }: Receiver): boolean {
  return slowMs < SLOW_MS;
}

function isFailing({ failures }: Receiver): boolean {
  return failures >= FAILURES_UNTIL_PROBED;
}

function begin(place: Place): void {
  place.begunAtMs = performance.now();
  place.receiver.underWay.add(place);
  place.mayBegin.resolve(true);
}

function giveBack(receiver: Receiver): void {
  receiver.ahead.splice(0).forEach(({ mayBegin }) => mayBegin.resolve(false));
}
