// Makes calls at a constant rate. Each call starts at its planned time, even if earlier calls have no response yet. Autocannon
// (bench/load-worker.ts) cannot do this, because it starts all calls of one second at the same moment.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce } from './calls.ts';
import { answerJobs } from './child.ts';
import type { Call } from './load-worker.ts';

export interface PaceJob {
  url: string;
  calls: Call[];
  perSecond: number;
}

/** Makes the calls. Returns the time at which each call began, in milliseconds since 1970, in the order of the calls. */
answerJobs(async ({ url, calls, perSecond }: PaceJob): Promise<number[]> => {
  const startedAt = performance.now();
  const beganAtMs: number[] = [];
  const underWay: Promise<unknown>[] = [];
  for (const [index, call] of calls.entries()) {
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
    beganAtMs.push(performance.timeOrigin + performance.now());
    underWay.push(callOnce(url, call));
  }
  await Promise.all(underWay);
  return beganAtMs;
});
