import type { Outcome } from './call.ts';
import type { Seen } from './neighbour.ts';

/** Statistics of the durations of calls, and the number of responses by status. */
export interface Times {
  count: number;
  p50Ms: number;
  p99Ms: number;
  p999Ms: number;
  maxMs: number;
  statuses: Record<string, number>;
}

/** Measurements of one case. */
export interface Measured {
  name: string;
  what: string;
  /** Number of calls of the busy tenant that the service did not refuse with 429. */
  letIn: number;
  /** Number of responses to the busy tenant, by status. */
  hog: Record<string, number>;
  other: Times;
  control: Times;
  livez: Times;
  controlLivez: Times;
  /** Longest pause of the event loop, by wall clock. */
  standstillMs: number;
  /**
   * Largest processor time that the main thread used between two ticks of a 4 ms timer. A long turn of the event loop delays the next tick.
   * So the value is approximately the processor time of the longest turn.
   */
  heldMs: number;
  controlStandstillMs: number;
  /** Call that used the most processor time when it was sent alone, or null if no call was sent alone. */
  worstAlone: { name: string; heldMs: number; tookMs: number; status: number } | null;
  memoryMiB: { before: number; peak: number; after: number };
  /** Last log lines of the process if it has ended, or null if it still runs. */
  died: string | null;
}

/**
 * Limits for the measurements. They include a tolerance, because the machine also does other work.
 * `docs/decisions/0021-a-budget-used-to-the-full.md` describes the measurements.
 */
export interface Goals {
  p99Ms: number;
  /**
   * Factor that accounts for a slow machine. A duration above its limit is still accepted if it is at most this factor times the duration
   * in the control process, which gets no calls of the busy tenant.
   */
  controlTimes: number;
  livezMs: number;
  heldMs: number;
  /**
   * Maximum pause of the event loop by wall clock, as a multiple of the pause in the control process, which gets no calls of the busy
   * tenant. A pause of at most `heldMs` is always allowed, because one turn of the event loop may use this much processor time.
   */
  standstillTimes: number;
  growthMiB: number;
  /**
   * Maximum growth of memory that may remain one minute after the load. Some growth is normal, because under any load V8's young generation
   * grows to 48 MiB, and menus stay in a cache.
   */
  keptMiB: number;
}

export const FULL: Goals = {
  p99Ms: 100,
  controlTimes: 2,
  livezMs: 100,
  heldMs: 50,
  standstillTimes: 3,
  growthMiB: 200,
  keptMiB: 100,
};
/**
 * Limits for short runs (`--short`). They are wide, because other programs may run on the same machine. So only clear faults exceed them.
 */
export const SHORT: Goals = {
  p99Ms: 500,
  controlTimes: 5,
  livezMs: 500,
  heldMs: 250,
  standstillTimes: 8,
  growthMiB: 350,
  keptMiB: 350,
};

export function timesOf(outcomes: Outcome[]): Times {
  const sorted = outcomes.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return {
    count: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
    statuses: countStatuses(outcomes),
  };
}

export function countStatuses(outcomes: Outcome[]): Record<string, number> {
  const counts = Map.groupBy(outcomes, ({ status }) => (status === 0 ? 'no response' : String(status)));
  return Object.fromEntries([...counts].map(([status, list]) => [status, list.length]));
}

export function timesOfBoth({ calls, livez }: Seen): [Times, Times] {
  return [timesOf(calls), timesOf(livez)];
}

/** Returns a description of each measurement that exceeds its limit. */
export function breaches(measured: Measured, goals: Goals): string[] {
  const { other, control, livez, controlLivez, heldMs, standstillMs, memoryMiB, died } = measured;
  const still = Math.max(goals.heldMs, goals.standstillTimes * measured.controlStandstillMs);
  const allowed = (ms: number, controlMs: number) => Math.max(ms, goals.controlTimes * controlMs);
  const failed = Object.keys(other.statuses).filter((status) => !status.startsWith('2'));
  const found: [boolean, string][] = [
    [died !== null, 'the process ended'],
    [failed.length > 0, `the other tenant got ${failed.map((each) => `${other.statuses[each]} × ${each}`).join(', ')}`],
    [other.p99Ms > allowed(goals.p99Ms, control.p99Ms), `the other tenant's p99 is ${other.p99Ms} ms`],
    [livez.p999Ms > allowed(goals.livezMs, controlLivez.p999Ms), `/livez took ${livez.p999Ms} ms at p99.9`],
    [heldMs > goals.heldMs, `one turn of the event loop used ${heldMs} ms of processor time`],
    [
      standstillMs > still,
      `the event loop paused for ${standstillMs} ms, and that of the control process for ${measured.controlStandstillMs} ms`,
    ],
    [memoryMiB.peak - memoryMiB.before > goals.growthMiB, `memory grew by ${memoryMiB.peak - memoryMiB.before} MiB`],
    [
      memoryMiB.after - memoryMiB.before > goals.keptMiB,
      `memory stayed ${memoryMiB.after - memoryMiB.before} MiB higher after the load`,
    ],
  ];
  return found.filter(([isBroken]) => isBroken).map(([, what]) => what);
}
