import type { Attempt, EventRow } from '../observer.ts';
import { healthyUrls, type World } from '../world.ts';
import type { Evidence, Invariant } from './invariant.ts';

const P99_LIMIT_MS = 2_000;
/** Time limit for a delivery that the fault interrupted. Its retry waits until the lease of the interrupted attempt has ended. */
const INTERRUPTED_LIMIT_MS = 25_000;

/**
 * Invariant 6. 99 % of the events for healthy receivers arrive within 2 s, even if the database, a process of the service or another
 * receiver fails. A longer limit applies to a delivery whose first attempt was interrupted, for example because a worker was killed.
 */
export const healthyAreServed: Invariant = {
  promise: '6 isolation of receivers',
  check: async (world, evidence) => measurePromptness(world, evidence).faults,
};

/**
 * Measures the time from the commit of an event to its arrival at a healthy receiver. Leaves out the time of database outages, because no
 * process can read the event during an outage. `p99Ms` leaves out interrupted deliveries, and `slowestMs` nothing.
 */
export function measurePromptness(world: World, evidence: Evidence) {
  const healthy = healthyUrls(world);
  const waits: number[] = [];
  const faults: string[] = [];
  let interrupted = 0;
  let slowestMs = 0;
  for (const event of evidence.events) {
    const url = world.knownPartners.get(event.credential_id ?? '')?.webhookUrl ?? '';
    const committedMs = event.committed_at.getTime();
    if (committedMs < evidence.fromMs || !healthy.has(url)) {
      continue;
    }
    const arrivedMs = world.posts.of(event.id)[0]?.atMs;
    if (arrivedMs === undefined) {
      faults.push(`event ${event.id} never arrived at ${url}`);
      continue;
    }
    const waitMs = arrivedMs - sinceOutage(world, committedMs, arrivedMs);
    slowestMs = Math.max(slowestMs, arrivedMs - committedMs);
    const isInterrupted = evidence.interruptsDeliveries && event.attempts?.[0]?.error === 'no_outcome';
    if (waitMs > P99_LIMIT_MS && isInterrupted) {
      interrupted += 1;
      if (waitMs > INTERRUPTED_LIMIT_MS) {
        faults.push(`event ${event.id}, which was interrupted, arrived only after ${waitMs} ms`);
      }
    } else {
      waits.push(waitMs);
    }
  }
  const p99Ms = waits.sort((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? 0;
  if (p99Ms > P99_LIMIT_MS) {
    faults.push(`the first attempt at healthy receivers took ${p99Ms} ms at p99`);
  }
  return { events: waits.length + interrupted, p99Ms, slowestMs, interrupted, faults };
}

function sinceOutage({ findings }: World, committedMs: number, arrivedMs: number): number {
  const ends = findings.outages.filter(({ fromMs, toMs }) => fromMs < arrivedMs && toMs > committedMs);
  return Math.max(committedMs, ...ends.map(({ toMs }) => Math.min(toMs, arrivedMs)));
}

/** Maximum wait after the first attempt. It doubles after each further attempt (rule 33). */
const FIRST_CAP_MS = 2_000;
/** Tolerance for a late retry, because a worker on a busy machine with a slow database needs time to find the due delivery. */
const SLACK_MS = 2_500;
/** Tolerance for a retry that seems too early, because the clocks of database and worker differ, or because times are rounded. */
const EARLY_MS = 150;
const ENOUGH_WAITS = 30;

interface Wait {
  eventId: string;
  attempt: number;
  waitMs: number;
  capMs: number;
}

/**
 * Invariant 5. The wait after a failed attempt is random, between zero and its maximum. A retry to a failing receiver may wait longer,
 * because the service limits the number of concurrent deliveries to it.
 */
export const waitsAreDrawn: Invariant = {
  promise: '5 waits are within their maximum',
  async check(world, { events, isLast }) {
    const waits = events.flatMap((event) => waitsOf(world, event));
    const wrong = waits.filter(({ waitMs, capMs }) => waitMs < -EARLY_MS || waitMs > capMs + SLACK_MS);
    return [
      ...wrong.map((wait) => `event ${wait.eventId} waited ${wait.waitMs} ms after attempt ${wait.attempt}`),
      ...(isLast ? faultsOfSpread(waits) : []),
    ];
  },
};

function waitsOf(world: World, { id, credential_id, attempts }: EventRow): Wait[] {
  const url = world.knownPartners.get(credential_id ?? '')?.webhookUrl ?? '';
  if (attempts === null || !healthyUrls(world).has(url)) {
    return [];
  }
  return attempts.slice(1).flatMap((next, index) => {
    const failed = attempts[index];
    // After an attempt without an outcome, the retry waits for the end of the lease.
    if (failed === undefined || failed.duration_ms === null) {
      return [];
    }
    const waitMs = waitBetween(world, failed, next);
    return [{ eventId: id, attempt: index + 1, waitMs, capMs: FIRST_CAP_MS * 2 ** index }];
  });
}

/** Leaves out the time of database outages, because no worker could find due deliveries during an outage. */
function waitBetween({ findings }: World, failed: Attempt, next: Attempt): number {
  const endedMs = Date.parse(failed.at) + (failed.duration_ms ?? 0);
  const nextMs = Date.parse(next.at);
  const outages = findings.outages.filter(({ fromMs, toMs }) => fromMs < nextMs && toMs > endedMs);
  const lostMs = outages.reduce((sum, { fromMs, toMs }) => sum + toMs - Math.max(fromMs, endedMs), 0);
  const waitMs = Math.round(nextMs - endedMs - lostMs);
  return outages.length > 0 ? Math.max(0, waitMs) : waitMs;
}

/** Waits that are evenly distributed between zero and their maximum are about half of it on average. */
function faultsOfSpread(waits: Wait[]): string[] {
  if (waits.length < ENOUGH_WAITS) {
    return [];
  }
  const mean = waits.reduce((sum, { waitMs, capMs }) => sum + waitMs / capMs, 0) / waits.length;
  const seen = `the mean of ${waits.length} waits is ${Math.round(mean * 100)} % of their maximum, not about half`;
  return mean > 0.3 && mean < 0.85 ? [] : [seen];
}
