import { healthyUrls, type World } from '../world.ts';
import type { Evidence, Invariant } from './invariant.ts';

const P99_LIMIT_MS = 2_000;
/**
 * Time limit for a delivery that the fault interrupted. The retry of such a delivery waits until the lease of the interrupted attempt has
 * ended.
 */
const INTERRUPTED_LIMIT_MS = 25_000;

/** Times from the commit of an event to the arrival of its first POST at a healthy receiver, in milliseconds. */
interface Promptness {
  events: number;
  p99Ms: number;
  slowestMs: number;
  /**
   * Number of deliveries that the fault interrupted before the POST. Such a delivery waits until its lease ends. The p99 does not include
   * these deliveries.
   */
  interrupted: number;
  faults: string[];
}

/**
 * Invariant 6. 99 % of the events for healthy receivers arrive within 2 s, even if the database, a process of the service or another
 * receiver fails. The time of database outages does not count. If a failure interrupted the first attempt of a delivery, for example
 * because a worker was killed, a longer limit applies to this delivery.
 */
export const healthyAreServed: Invariant = {
  promise: '6 isolation of receivers',
  lookAt: 'src/webhooks/deliveries/schedule.ts, and the poll for due deliveries',
  check: async (world, evidence) => measurePromptness(world, evidence).faults,
};

/**
 * Measures the time from the commit of an event to its arrival at a healthy receiver. Leaves out the time of database outages, because no
 * process can read the event during an outage.
 */
export function measurePromptness(world: World, evidence: Evidence): Promptness {
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
    const arrivedMs = world.posts.byEvent.get(event.id)?.[0]?.atMs;
    if (arrivedMs === undefined) {
      faults.push(`event ${event.id} never arrived at ${url}`);
      continue;
    }
    const waitMs = arrivedMs - sinceOutage(world, committedMs, arrivedMs);
    slowestMs = Math.max(slowestMs, arrivedMs - committedMs);
    const isInterrupted = evidence.interruptsDeliveries && event.attempts?.[0]?.error === 'no_outcome';
    if (waitMs > P99_LIMIT_MS && isInterrupted) {
      interrupted += 1;
      faults.push(
        ...(waitMs > INTERRUPTED_LIMIT_MS
          ? [`event ${event.id}, which was interrupted, arrived only after ${waitMs} ms`]
          : []),
      );
    } else {
      waits.push(waitMs);
    }
  }
  const p99Ms = waits.sort((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? 0;
  faults.push(...(p99Ms > P99_LIMIT_MS ? [`the first attempt at healthy receivers took ${p99Ms} ms at p99`] : []));
  return { events: waits.length + interrupted, p99Ms, slowestMs, interrupted, faults };
}

function sinceOutage({ findings }: World, committedMs: number, arrivedMs: number): number {
  const ends = findings.outages.filter(({ fromMs, toMs }) => fromMs < arrivedMs && toMs > committedMs);
  return Math.max(committedMs, ...ends.map(({ toMs }) => Math.min(toMs, arrivedMs)));
}
