import type { Attempt, EventRow } from '../observer.ts';
import { healthyUrls, type World } from '../world.ts';
import type { Invariant } from './invariant.ts';

/** Decision 33: 2 s after the first attempt, doubled after each. */
const FIRST_CAP_MS = 2_000;
/** Until a worker has looked, on a machine that is busy, with a database that may be slow. */
const SLACK_MS = 2_500;
/** Clocks of the database and the worker, and the rounding of both. */
const EARLY_MS = 150;
const ENOUGH_WAITS = 30;

interface Wait {
  eventId: string;
  attempt: number;
  waitMs: number;
  capMs: number;
}

/** Invariant 5: the wait after a failed attempt is drawn from nothing to its cap. Slots of a bad receiver may add to it. */
export const waitsAreDrawn: Invariant = {
  promise: '5 waits within their caps',
  lookAt: 'src/webhooks/deliveries/retry.ts, and how long due deliveries wait to be looked for',
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
    // An attempt that never reported back is followed by the end of its lease, which is no wait that was drawn.
    if (failed === undefined || failed.duration_ms === null) {
      return [];
    }
    return [
      { eventId: id, attempt: index + 1, waitMs: waitBetween(world, failed, next), capMs: FIRST_CAP_MS * 2 ** index },
    ];
  });
}

/** While there was no database, nobody could look for what was due. */
function waitBetween({ findings }: World, failed: Attempt, next: Attempt): number {
  const endedMs = Date.parse(failed.at) + (failed.duration_ms ?? 0);
  const nextMs = Date.parse(next.at);
  const outages = findings.outages.filter(({ fromMs, toMs }) => fromMs < nextMs && toMs > endedMs);
  const lostMs = outages.reduce((sum, { fromMs, toMs }) => sum + toMs - Math.max(fromMs, endedMs), 0);
  const waitMs = Math.round(nextMs - endedMs - lostMs);
  return outages.length > 0 ? Math.max(0, waitMs) : waitMs;
}

/** Drawn evenly, they fill half of their caps on average. */
function faultsOfSpread(waits: Wait[]): string[] {
  if (waits.length < ENOUGH_WAITS) {
    return [];
  }
  const mean = waits.reduce((sum, { waitMs, capMs }) => sum + waitMs / capMs, 0) / waits.length;
  const isEven = mean > 0.3 && mean < 0.85;
  return isEven
    ? []
    : [`${waits.length} waits fill ${Math.round(mean * 100)} % of their caps on average, not about half`];
}
