import type { Outcome } from './call.ts';
import type { Seen } from './neighbour.ts';

/** Times of calls, and how they ended. */
export interface Times {
  count: number;
  p50Ms: number;
  p99Ms: number;
  p999Ms: number;
  maxMs: number;
  statuses: Record<string, number>;
}

/** What was measured of one case. */
export interface Measured {
  name: string;
  what: string;
  /** Calls of the hog that its budget let in, and all of its statuses. */
  letIn: number;
  hog: Record<string, number>;
  other: Times;
  control: Times;
  livez: Times;
  controlLivez: Times;
  /** The longest of the event loop. */
  standstillMs: number;
  /** The most processor time between two of its turns. */
  heldMs: number;
  controlStandstillMs: number;
  /** The call that held it longest, sent alone. */
  worstAlone: { name: string; heldMs: number; tookMs: number; status: number } | null;
  memoryMiB: { before: number; peak: number; after: number };
  /** The last lines of a process that ended. */
  died: string | null;
}

/** What must hold (invariant 11), and how far a machine that others use as well may be off. */
export interface Goals {
  p99Ms: number;
  /** Of a control process that is slow itself, so many times its p99. */
  controlTimes: number;
  livezMs: number;
  heldMs: number;
  /** On the wall: where the thread waits for something else than a core. Of the control's, so many times. */
  standstillTimes: number;
  growthMiB: number;
  /** A minute later. Under any load V8's young generation grows to 48 MiB, and menus are cached. */
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
/** For machines on which much else runs: only what nobody can mistake. */
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
  const counts = Map.groupBy(outcomes, ({ status }) => (status === 0 ? 'no answer' : String(status)));
  return Object.fromEntries([...counts].map(([status, list]) => [status, list.length]));
}

export function timesOfBoth({ calls, livez }: Seen): [Times, Times] {
  return [timesOf(calls), timesOf(livez)];
}

/** What of it breaks the goals, in words. */
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
    [heldMs > goals.heldMs, `the event loop was held for ${heldMs} ms`],
    [
      standstillMs > still,
      `the event loop stood still for ${standstillMs} ms, the idle one's for ${measured.controlStandstillMs} ms`,
    ],
    [memoryMiB.peak - memoryMiB.before > goals.growthMiB, `memory grew by ${memoryMiB.peak - memoryMiB.before} MiB`],
    [memoryMiB.after - memoryMiB.before > goals.keptMiB, `it kept ${memoryMiB.after - memoryMiB.before} MiB of it`],
  ];
  return found.filter(([isBroken]) => isBroken).map(([, what]) => what);
}
