/**
 * Simulates the busy tenant (hog), which uses its whole budget. This program runs as a process with the lowest priority, so that it does
 * not slow down the measured process when it makes the calls.
 */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, make, newAgent, type Outcome } from './call.ts';
import type { Keys } from './house.ts';

const LOWEST_PRIORITY = 19;
/**
 * Number of callers that begin together. The next callers begin a little later, because more new connections at the same time would
 * overflow the accept queue of the service.
 */
const PORTION = 40;
const PORTION_EVERY_MS = 10;

/** Number of calls in all, and number of callers that make them at the same time. Each caller makes its next call after a response. */
export interface Load {
  callers: number;
  calls: number;
}

export interface HogTask {
  url: string;
  /** Calls that the program makes in turn. After the last call, it begins again with the first one. */
  calls: Call[];
  keys: Keys;
  load: Load;
  /** Time after which the program no longer waits for responses. */
  limitMs: number;
}

async function use({ url, calls, keys, load, limitMs }: HogTask): Promise<Outcome[]> {
  const agent = newAgent();
  const deadlineMs = performance.now() + limitMs;
  const outcomes: Outcome[] = [];
  let made = 0;
  const callInTurn = async (caller: number) => {
    await sleep(Math.floor(caller / PORTION) * PORTION_EVERY_MS);
    while (made < load.calls && performance.now() < deadlineMs) {
      const index = made;
      made += 1;
      const call = calls[index % calls.length] as Call;
      outcomes.push(await make(url, call, keys[call.who], index, agent));
    }
  };
  const callers = Array.from({ length: load.callers }, (_, caller) => callInTurn(caller));
  await Promise.race([Promise.all(callers), sleep(limitMs)]);
  const unanswered = Array.from({ length: made - outcomes.length }, () => ({ status: 0, tookMs: limitMs }));
  agent.destroy();
  return [...outcomes, ...unanswered];
}

setPriority(LOWEST_PRIORITY);
process.on('message', (task: HogTask) => void use(task).then((outcomes) => process.send?.(outcomes)));
process.on('disconnect', () => process.exit());
