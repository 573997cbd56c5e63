import { Tally } from '#platform/lib/tally.ts';

/** Number of attempts that may be under way at the same time in this process. */
export const PLACES = 256;
/** Maximum number of these places for all lagging receivers together. */
const LAGGING_PLACES = PLACES / 2;
/** Maximum number of these places for one tenant while other tenants wait. */
const TENANT_PLACES = PLACES / 2;
/** Maximum number of these places for one receiver. */
const RECEIVER_PLACES = 32;
/**
 * Maximum number of places for a receiver that has not succeeded yet in this process. So a worker that starts does not open hundreds of
 * connections to receivers that hang.
 */
const NEW_RECEIVER_PLACES = 4;
/**
 * Maximum number of attempts under way at all. Receivers may begin to hang while they hold more than half of the places. The other receivers
 * still get half of the places, so the number can exceed `PLACES` until the hanging attempts reach their time limit.
 */
const MOST_UNDER_WAY = 2 * PLACES;
/** Time in milliseconds after which an attempt under way is slow. */
const SLOW_MS = 1_000;
/**
 * Number of failures in a row from which a receiver is failing. It is more than one, because a receiver with a single failure would
 * otherwise wait for the places of receivers that hang.
 */
const FAILURES_UNTIL_PROBED = 3;
/** Pause after each failure of a failing receiver, in which it gets no attempt. So an outage uses few attempts of the events. */
export const PROBE_REST_MS = 250;
/** Maximum number of receivers in memory. */
const MAX_RECEIVERS = 10_000;

/** Place of one attempt under way. `url` is its receiver, whichever credential has registered the URL. */
interface Place {
  tenantId: number;
  url: string;
  begunAtMs: number;
}

/** What is known of a receiver. */
interface Receiver {
  hasSucceeded: boolean;
  /** Number of failed attempts since the last success. */
  failures: number;
  /** Time (`performance.now()`) before which the receiver gets no attempt. */
  restsUntilMs: number;
}

const NEW_RECEIVER: Receiver = { hasSucceeded: false, failures: 0, restsUntilMs: 0 };

/**
 * Attempts under way in this process, and the receivers that lag. A receiver lags if its last three attempts failed, or if an attempt
 * to it has been under way for over a second. A slow attempt that has ended does not count, because the receiver could not show that it is
 * quick again while others hang. Each process counts only its own attempts.
 */
export class Capacity {
  readonly #probeRestMs: number;
  /** Attempts under way, the oldest first. */
  readonly #underWay = new Set<Place>();
  /** Receivers by URL. The one whose last attempt ended first comes first. */
  readonly #receivers = new Map<string, Receiver>();

  constructor(probeRestMs = PROBE_REST_MS) {
    this.#probeRestMs = probeRestMs;
  }

  /** Number of attempts under way. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Begins an attempt. Never refuses, because a claimed delivery must be sent. */
  take(tenantId: number, url: string): Place {
    const place = { tenantId, url, begunAtMs: performance.now() };
    this.#underWay.add(place);
    return place;
  }

  /** Ends an attempt. `isOk` is null if the outcome does not show the state of the receiver, for example because the process stopped. */
  end(place: Place, isOk: boolean | null): void {
    this.#underWay.delete(place);
    if (isOk === null) {
      return;
    }
    const { url } = place;
    const before = this.#receivers.get(url) ?? NEW_RECEIVER;
    const failures = isOk ? 0 : before.failures + 1;
    const restMs = failures < FAILURES_UNTIL_PROBED ? 0 : this.#probeRestMs;
    this.#receivers.delete(url);
    this.#receivers.set(url, {
      hasSucceeded: before.hasSucceeded || isOk,
      failures,
      restsUntilMs: performance.now() + restMs,
    });
    if (this.#receivers.size > MAX_RECEIVERS) {
      const [oldest = ''] = this.#receivers.keys();
      this.#receivers.delete(oldest);
    }
  }

  /** Counts the places that are free now. */
  countFree(): FreePlaces {
    return new FreePlaces(this.#underWay, this.#receivers);
  }
}

/** Places that are free at one moment. Each call of `take` leaves fewer of them. */
export class FreePlaces {
  readonly #nowMs = performance.now();
  readonly #receivers: ReadonlyMap<string, Receiver>;
  /** Receivers of attempts that have been under way for long. */
  readonly #slow = new Set<string>();
  readonly #takenAt = new Tally<string>();
  readonly #takenBy = new Tally<number>();
  #takenByHealthy = 0;
  #takenByLagging = 0;

  constructor(underWay: Iterable<Place>, receivers: ReadonlyMap<string, Receiver>) {
    this.#receivers = receivers;
    for (const { url, begunAtMs } of underWay) {
      if (this.#nowMs - begunAtMs > SLOW_MS) {
        this.#slow.add(url);
      }
    }
    for (const { tenantId, url } of underWay) {
      this.take(tenantId, url, 1);
    }
  }

  /** Number of attempts to healthy receivers, with those for which `take` was called. */
  get takenByHealthy(): number {
    return this.#takenByHealthy;
  }

  /** Returns how many attempts to the receiver may begin now. The limit of its tenant is separate. */
  at(url: string): number {
    const receiver = this.#receivers.get(url) ?? NEW_RECEIVER;
    if (this.#nowMs < receiver.restsUntilMs) {
      return 0;
    }
    const ofReceiver = placesOf(receiver);
    const ofKind = this.#isLagging(url)
      ? LAGGING_PLACES - this.#takenByLagging
      : PLACES - this.#takenByHealthy - Math.min(this.#takenByLagging, LAGGING_PLACES);
    const ofAll = MOST_UNDER_WAY - this.#takenByHealthy - this.#takenByLagging;
    return Math.max(0, Math.min(ofReceiver - this.#takenAt.of(url), ofKind, ofAll));
  }

  /** Returns how many attempts of the tenant may begin until it has half of all places. */
  ofTenant(tenantId: number): number {
    return Math.max(0, TENANT_PLACES - this.#takenBy.of(tenantId));
  }

  take(tenantId: number, url: string, count: number): void {
    this.#takenAt.add(url, count);
    this.#takenBy.add(tenantId, count);
    if (this.#isLagging(url)) {
      this.#takenByLagging += count;
    } else {
      this.#takenByHealthy += count;
    }
  }

  #isLagging(url: string): boolean {
    return this.#slow.has(url) || (this.#receivers.get(url)?.failures ?? 0) >= FAILURES_UNTIL_PROBED;
  }
}

/** Returns how many attempts to the receiver may be under way at the same time. */
function placesOf({ hasSucceeded, failures }: Receiver): number {
  if (failures >= FAILURES_UNTIL_PROBED) {
    return 1;
  }
  return hasSucceeded ? RECEIVER_PLACES : NEW_RECEIVER_PLACES;
}
