/**
 * Simulates the busy tenant (hog), which uses its whole budget. This program runs as a process with the lowest priority, so that it does
 * not slow down the measured process when it makes the calls.
 */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, type Keys, make, newAgent, type Outcome } from './call.ts';

const LOWEST_PRIORITY = 19;
/**
 * Number of calls that the program begins together. It pauses after each group, because more new connections at the same time would
 * overflow the accept queue of the service.
 */
const PORTION = 40;
const PORTION_EVERY_MS = 10;

/** Rate of the calls. The first `atOnce` calls are concurrent. The next calls (their number is `after`) have a rate of `perSecond`. */
export interface Pace {
  atOnce: number;
  after: number;
  perSecond: number;
}

export interface HogTask {
  url: string;
  /** Calls that the program makes in turn. After the last call, it begins again with the first one. */
  calls: Call[];
  keys: Keys;
  pace: Pace;
  firstIndex: number;
  /** Time after which the program no longer waits for responses. */
  limitMs: number;
}

async function use({ url, calls, keys, pace, firstIndex, limitMs }: HogTask): Promise<Outcome[]> {
  const agent = newAgent();
  const outcomes: Outcome[] = [];
  const made: Promise<unknown>[] = [];
  const callNext = () => {
    const index = made.length;
    const call = calls[index % calls.length];
    if (call !== undefined) {
      made.push(make(url, call, keys, firstIndex + index, agent).then((outcome) => outcomes.push(outcome)));
    }
  };
  const beganAtMs = performance.now();
  for (let count = 0; count < pace.atOnce; count += 1) {
    callNext();
    if (count % PORTION === PORTION - 1) {
      await sleep(PORTION_EVERY_MS);
    }
  }
  const steadyAtMs = performance.now();
  for (let count = 0; count < pace.after; count += 1) {
    await sleep(Math.max(0, steadyAtMs + (count * 1_000) / pace.perSecond - performance.now()));
    callNext();
  }
  await Promise.race([Promise.all(made), sleep(Math.max(0, beganAtMs + limitMs - performance.now()))]);
  agent.destroy();
  return [
    ...outcomes,
    ...Array.from({ length: made.length - outcomes.length }, () => ({ status: 0, tookMs: limitMs })),
  ];
}

setPriority(LOWEST_PRIORITY);
process.on('message', (task: HogTask) => void use(task).then((outcomes) => process.send?.(outcomes)));
process.on('disconnect', () => process.exit());
