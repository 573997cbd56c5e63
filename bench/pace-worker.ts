// Makes calls at a constant rate: each call starts on time, even if previous calls have no response yet. Autocannon
// (bench/load-worker.ts) cannot do this, because it sends all calls of a second together.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce } from './calls.ts';
import { answerJobs } from './child.ts';
import type { Call } from './load-worker.ts';

export interface PaceJob {
  url: string;
  calls: Call[];
  perSecond: number;
}

answerJobs(async ({ url, calls, perSecond }: PaceJob): Promise<number> => {
  const startedAt = performance.now();
  const underWay: Promise<unknown>[] = [];
  for (const [index, call] of calls.entries()) {
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
    underWay.push(callOnce(url, call));
  }
  return (await Promise.all(underWay)).length;
});
