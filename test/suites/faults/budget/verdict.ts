import type { Outcome } from './call.ts';

interface Times {
  p99Ms: number;
  p999Ms: number;
  maxMs: number;
  statuses: Record<string, number>;
}

export interface Measured {
  hog: Times;
  /** True if every call of the busy tenant must get a status 2xx. */
  mustAnswer: boolean;
  /** Usual calls of the other tenant to the measured process, and to the control process. */
  other: Times;
  control: Times;
  livez: Times;
  controlLivez: Times;
  /** Processor time of the longest turn of the event loop. It has no limit, but shows the cause of a slow response. */
  heldMs: number;
  memoryMiB: { before: number; peak: number };
  allowedGrowthMiB: number;
  hasEnded: boolean;
}

export const GROWTH_MIB = 150;

interface Goals {
  p99Ms: number;
  /** For a slow machine, a duration is also accepted if it is at most this factor times the duration in the control process. */
  controlTimes: number;
  livezMs: number;
}

export const FULL: Goals = { p99Ms: 100, controlTimes: 2, livezMs: 100 };
/** Limits for short runs. They are wide, because other programs may run on the same machine. */
export const SHORT: Goals = { p99Ms: 500, controlTimes: 5, livezMs: 500 };

export function timesOf(outcomes: Outcome[]): Times {
  const sorted = outcomes.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1), statuses: countStatuses(outcomes) };
}

function countStatuses(outcomes: Outcome[]): Record<string, number> {
  const counts = Map.groupBy(outcomes, ({ status }) => (status === 0 ? 'no response' : String(status)));
  return Object.fromEntries([...counts].map(([status, list]) => [status, list.length]));
}

export function breaches(measured: Measured, goals: Goals): string[] {
  const { hog, mustAnswer, other, control, livez, controlLivez, memoryMiB, allowedGrowthMiB, hasEnded } = measured;
  const allowed = (ms: number, controlMs: number) => Math.max(ms, goals.controlTimes * controlMs);
  const growthMiB = memoryMiB.peak - memoryMiB.before;
  const found: [boolean, string][] = [
    [hasEnded, 'the process ended'],
    [failuresOf(other) !== '', `the other tenant got ${failuresOf(other)}`],
    [mustAnswer && failuresOf(hog) !== '', `the busy tenant got ${failuresOf(hog)}`],
    [other.p99Ms > allowed(goals.p99Ms, control.p99Ms), `the other tenant's p99 is ${other.p99Ms} ms`],
    [livez.p999Ms > allowed(goals.livezMs, controlLivez.p999Ms), `/livez took ${livez.p999Ms} ms at p99.9`],
    [growthMiB > allowedGrowthMiB, `memory grew by ${growthMiB} MiB`],
  ];
  return found.filter(([isBroken]) => isBroken).map(([, what]) => what);
}

function failuresOf(times: Times): string {
  return statusesIn(times, (status) => !status.startsWith('2'));
}

export function rowOf({ hog, other, control, livez, controlLivez, heldMs, memoryMiB }: Measured): object {
  const all = () => true;
  return {
    'busy tenant': `${statusesIn(hog, all)}; slowest ${hog.maxMs} ms`,
    'other tenant': statusesIn(other, all),
    'its p99 (control), ms': `${other.p99Ms} (${control.p99Ms})`,
    '/livez p99.9 (control), ms': `${livez.p999Ms} (${controlLivez.p999Ms})`,
    'longest turn, ms': heldMs,
    'memory before / peak, MiB': `${memoryMiB.before} / ${memoryMiB.peak}`,
  };
}

function statusesIn({ statuses }: Times, isShown: (status: string) => boolean): string {
  const shown = Object.entries(statuses).filter(([status]) => isShown(status));
  return shown.map(([status, count]) => `${count} × ${status}`).join(', ');
}
