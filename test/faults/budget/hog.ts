/**
 * A tenant that uses its budget to the full, as a process of its own that gives way to all others: what the machine has left over
 * makes the calls, so that making them slows nobody down.
 */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, type Keys, make, newAgent, type Outcome } from './call.ts';

const LOWEST_PRIORITY = 19;
/** Connections that are opened in one moment: more would run over the queue of those that are not taken yet. */
const PORTION = 40;
const PORTION_EVERY_MS = 10;

/** So many calls at once, then the others at a steady pace. */
export interface Pace {
  atOnce: number;
  after: number;
  perSecond: number;
}

export interface HogTask {
  url: string;
  /** In turn, until the budget is used. */
  calls: Call[];
  keys: Keys;
  pace: Pace;
  firstIndex: number;
  /** Calls that have no answer by then are left. */
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
