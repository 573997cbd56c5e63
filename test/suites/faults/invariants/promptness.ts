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
