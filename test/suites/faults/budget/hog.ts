/** Simulates the busy tenant (hog). This program has the lowest priority, so that it does not slow down the measured process. */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerJobs } from '../../../../bench/child.ts';
import { type Call, make, newAgent, type Outcome } from './call.ts';
import type { BudgetTenant } from './house.ts';

const LOWEST_PRIORITY = 19;
/** Number of callers that begin together. More new connections would overflow the accept queue of the service. */
const PORTION = 40;
const PORTION_EVERY_MS = 10;

export interface Load {
  callers: number;
  calls: number;
}

export interface HogTask {
  url: string;
  calls: Call[];
  keys: BudgetTenant['keys'];
  load: Load;
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
answerJobs(use);
