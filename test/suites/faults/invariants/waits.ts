import type { Attempt, EventRow } from '../observer.ts';
import { healthyUrls, type World } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** Maximum wait between the first and the second attempt. The maximum doubles after each further attempt (rule 33). */
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
 * Invariant 5. The wait after a failed attempt is random, between zero and its maximum. Only deliveries to healthy receivers are checked. A
 * retry to a failing receiver may wait longer, because the service limits the number of concurrent deliveries to failing receivers.
 */
export const waitsAreDrawn: Invariant = {
  promise: '5 waits are within their maximum',
  lookAt: 'src/webhooks/deliveries/outcomes.ts, and the time until a poll finds a due delivery',
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
    // After an attempt without an outcome, the retry waits for the end of the lease and not for a random time, so this wait is not checked.
    if (failed === undefined || failed.duration_ms === null) {
      return [];
    }
    return [
      { eventId: id, attempt: index + 1, waitMs: waitBetween(world, failed, next), capMs: FIRST_CAP_MS * 2 ** index },
    ];
  });
}

/**
 * Returns the wait between two attempts in milliseconds, minus the time of database outages, because no worker could find due deliveries
 * during an outage.
 */
function waitBetween({ findings }: World, failed: Attempt, next: Attempt): number {
  const endedMs = Date.parse(failed.at) + (failed.duration_ms ?? 0);
  const nextMs = Date.parse(next.at);
  const outages = findings.outages.filter(({ fromMs, toMs }) => fromMs < nextMs && toMs > endedMs);
  const lostMs = outages.reduce((sum, { fromMs, toMs }) => sum + toMs - Math.max(fromMs, endedMs), 0);
  const waitMs = Math.round(nextMs - endedMs - lostMs);
  return outages.length > 0 ? Math.max(0, waitMs) : waitMs;
}

/**
 * Returns a violation if the mean of the waits is far from half of the allowed maximum (`capMs`). If the waits are evenly distributed
 * between zero and the allowed maximum, their mean is about half of it. With too few waits, returns no violation.
 */
function faultsOfSpread(waits: Wait[]): string[] {
  if (waits.length < ENOUGH_WAITS) {
    return [];
  }
  const mean = waits.reduce((sum, { waitMs, capMs }) => sum + waitMs / capMs, 0) / waits.length;
  const isEven = mean > 0.3 && mean < 0.85;
  return isEven
    ? []
    : [`the mean of ${waits.length} waits is ${Math.round(mean * 100)} % of their maximum, but about half is expected`];
}
