import { LRUCache } from 'lru-cache';
import { Tally } from '#platform/lib/tally.ts';

/** Number of claimed deliveries that this process may hold at the same time. Each has a place until its attempt has ended. */
const PLACES = 256;
/** Maximum number of these places for all lagging receivers together, and for one tenant while other tenants wait. */
const HALF = PLACES / 2;
/** Maximum number of attempts to one receiver that are under way at the same time. */
const RECEIVER_PLACES = 32;
/**
 * Maximum number of places for a receiver whose last attempt succeeded within `QUICK_MS`. Those above `RECEIVER_PLACES` are claimed ahead:
 * they wait in memory until an attempt ends, so the receiver does not wait for the next claim.
 */
const QUICK_RECEIVER_PLACES = HALF;
const QUICK_MS = 100;
/** Places of a receiver that has not succeeded yet. So a worker that starts does not open hundreds of connections to receivers that hang. */
const NEW_RECEIVER_PLACES = 4;
/**
 * Maximum number of places in use. Receivers may begin to hang while they hold more than half of the places. The other receivers still get
 * half of the places, so the number can exceed `PLACES` until the hanging attempts reach their time limit.
 */
const MOST_TAKEN = 2 * PLACES;
/** Time in milliseconds after which an attempt under way is slow. */
const SLOW_MS = 1_000;
/**
 * Number of failures in a row from which a receiver is failing. It is more than one, because a receiver with a single failure would
 * otherwise wait for the places of receivers that hang.
 */
const FAILURES_UNTIL_PROBED = 3;
/** Pause after each failure of a failing receiver, in which it gets no attempt. So an outage uses few attempts of the events. */
export const PROBE_REST_MS = 250;
const MAX_RECEIVERS = 10_000;

const NOT_BEGUN = Number.POSITIVE_INFINITY;

/** Place of one claimed delivery. `url` is its receiver, whichever credential has registered the URL. */
interface Place {
  tenantId: number;
  url: string;
  begunAtMs: number;
}

interface Receiver {
  places: number;
  failures: number;
  /** Time (`performance.now()`) before which the receiver gets no attempt. */
  restsUntilMs: number;
}

const NEW_RECEIVER: Receiver = { places: NEW_RECEIVER_PLACES, failures: 0, restsUntilMs: 0 };

/**
 * Claimed deliveries of this process, and the receivers that lag. A receiver lags if its last three attempts failed, or if an attempt to it
 * has been under way for over a second. A slow attempt that has ended does not count, because the receiver could not show that it is quick
 * again while others hang. Each process counts only its own attempts.
 */
export class Capacity {
  readonly #probeRestMs: number;
  readonly #taken = new Set<Place>();
  readonly #underWayAt = new Tally<string>();
  /** Functions that begin the attempts of deliveries that were claimed ahead, or give them back, by receiver. No list is empty. */
  readonly #aheadAt = new Map<string, ((mayBegin: boolean) => void)[]>();
  readonly #receivers = new LRUCache<string, Receiver>({ max: MAX_RECEIVERS });

  constructor(probeRestMs = PROBE_REST_MS) {
    this.#probeRestMs = probeRestMs;
  }

  get taken(): number {
    return this.#taken.size;
  }

  /** Takes a place for a claimed delivery. Never refuses, because a claimed delivery must be sent or given back. */
  take(tenantId: number, url: string): Place {
    const place = { tenantId, url, begunAtMs: NOT_BEGUN };
    this.#taken.add(place);
    return place;
  }

  get isAhead(): boolean {
    return this.#aheadAt.size > 0;
  }

  /**
   * Waits until fewer than `RECEIVER_PLACES` attempts to the receiver are under way.
   * @returns false if the receiver began to lag in the meantime. The delivery must then be given back
   */
  async begin(place: Place): Promise<boolean> {
    const { url } = place;
    if (this.#underWayAt.of(url) < RECEIVER_PLACES) {
      this.#underWayAt.add(url, 1);
    } else {
      const ahead = this.#aheadAt.get(url) ?? [];
      this.#aheadAt.set(url, ahead);
      if (!(await new Promise<boolean>((begin) => ahead.push(begin)))) {
        return false;
      }
    }
    place.begunAtMs = performance.now();
    return true;
  }

  /** Ends an attempt. `isOk` is null if the outcome does not show the state of the receiver, for example because the process stopped. */
  end(place: Place, isOk: boolean | null): void {
    const { url, begunAtMs } = place;
    this.#taken.delete(place);
    if (begunAtMs !== NOT_BEGUN) {
      this.#beginNext(url);
    }
    if (isOk === null) {
      return;
    }
    const before = this.#receivers.get(url) ?? NEW_RECEIVER;
    const failures = isOk ? 0 : before.failures + 1;
    const restMs = failures < FAILURES_UNTIL_PROBED ? 0 : this.#probeRestMs;
    const isQuick = performance.now() - begunAtMs <= QUICK_MS;
    const places = isOk ? (isQuick ? QUICK_RECEIVER_PLACES : RECEIVER_PLACES) : before.places;
    this.#receivers.set(url, { places, failures, restsUntilMs: performance.now() + restMs });
    if (failures >= FAILURES_UNTIL_PROBED) {
      this.#giveBack(url);
    }
  }

  /** Also gives back what was claimed ahead for receivers that lag. */
  countFree(): FreePlaces {
    const free = new FreePlaces(this.#taken, this.#receivers);
    for (const url of this.#aheadAt.keys()) {
      if (free.isLagging(url)) {
        this.#giveBack(url);
      }
    }
    return free;
  }

  #beginNext(url: string): void {
    const ahead = this.#aheadAt.get(url);
    const begin = ahead?.shift();
    if (begin === undefined) {
      this.#underWayAt.add(url, -1);
      return;
    }
    begin(true);
    if (ahead?.length === 0) {
      this.#aheadAt.delete(url);
    }
  }

  #giveBack(url: string): void {
    this.#aheadAt.get(url)?.forEach((begin) => begin(false));
    this.#aheadAt.delete(url);
  }
}

export class FreePlaces {
  readonly #nowMs = performance.now();
  readonly #receivers: Pick<LRUCache<string, Receiver>, 'get'>;
  readonly #slow = new Set<string>();
  readonly #takenAt = new Tally<string>();
  readonly #takenBy = new Tally<number>();
  #takenByHealthy = 0;
  #takenByLagging = 0;

  constructor(taken: Iterable<Place>, receivers: Pick<LRUCache<string, Receiver>, 'get'>) {
    this.#receivers = receivers;
    for (const { url, begunAtMs } of taken) {
      if (this.#nowMs - begunAtMs > SLOW_MS) {
        this.#slow.add(url);
      }
    }
    for (const { tenantId, url } of taken) {
      this.take(tenantId, url, 1);
    }
  }

  get takenByHealthy(): number {
    return this.#takenByHealthy;
  }

  at(url: string, most = Number.POSITIVE_INFINITY): number {
    const { places, failures, restsUntilMs } = this.#receivers.get(url) ?? NEW_RECEIVER;
    if (this.#nowMs < restsUntilMs) {
      return 0;
    }
    const isLagging = this.isLagging(url);
    const ofReceiver = failures >= FAILURES_UNTIL_PROBED ? 1 : Math.min(places, isLagging ? RECEIVER_PLACES : most);
    const ofKind = isLagging
      ? HALF - this.#takenByLagging
      : PLACES - this.#takenByHealthy - Math.min(this.#takenByLagging, HALF);
    const ofAll = MOST_TAKEN - this.#takenByHealthy - this.#takenByLagging;
    return Math.max(0, Math.min(ofReceiver - this.#takenAt.of(url), ofKind, ofAll));
  }

  /**
   * Returns how many places the receiver may take if `waiting` receivers share all places equally. With larger parts for the first ones, a
   * worker opens many more connections.
   */
  equalPart(url: string, waiting: number): number {
    return this.at(url, Math.min(RECEIVER_PLACES, Math.ceil(PLACES / waiting)));
  }

  ofTenant(tenantId: number): number {
    return Math.max(0, HALF - this.#takenBy.of(tenantId));
  }

  take(tenantId: number, url: string, count: number): void {
    this.#takenAt.add(url, count);
    this.#takenBy.add(tenantId, count);
    if (this.isLagging(url)) {
      this.#takenByLagging += count;
    } else {
      this.#takenByHealthy += count;
    }
  }

  isLagging(url: string): boolean {
    return this.#slow.has(url) || isFailing(this.#receivers.get(url));
  }
}

function isFailing(receiver: Receiver = NEW_RECEIVER): boolean {
  return receiver.failures >= FAILURES_UNTIL_PROBED;
}
