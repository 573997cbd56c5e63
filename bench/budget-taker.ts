// Process that counts calls of many credentials in Redis, with the code of the service. The benchmark `operations/budgets.ts` starts it.
import { pino } from 'pino';
import { RedisBudgets } from '#platform/http/redis-budgets.ts';
import type { Budget } from '#platform/http/rate-limit.ts';
import { answerJobs } from './child.ts';
import { closedLoop } from './floors/closed-loop.ts';
import type { Slice } from './load-worker.ts';

export type BudgetJob =
  /** Connects to Redis. */
  | { do: 'open'; redisUrl: string }
  /**
   * Counts one call for each credential. `credentials` is the number of credentials. Returns the heap memory that this process then uses,
   * in MiB.
   */
  | { do: 'fill'; credentials: number }
  /**
   * Counts calls for the given number of seconds, and returns the measured values. `lanes` is the number of calls that wait for Redis at
   * the same time.
   */
  | { do: 'take'; credentials: number; lanes: number; seconds: number };

const LIMIT = 300;
const MIB = 1024 * 1024;
/**
 * Step from the credential of one call to the credential of the next call. Credentials are numbered from 0. The next number is the present
 * number plus STEP, modulo the number of credentials (100 or 100,000).
 *
 * STEP is a prime number that divides neither 100 nor 100,000. So each credential has a call before any credential has a second call, and
 * the calls are spread evenly.
 */
const STEP = 7_919;

let budget: Budget;
let next = 0;

/** Returns the name under which the calls of a credential are counted. The name is as long as the id of a real credential. */
function keyOf(credential: number): string {
  return `0193f1c2-7a54-7c3e-9d10-${String(credential).padStart(12, '0')}`;
}

async function handle(job: BudgetJob): Promise<number | Slice> {
  switch (job.do) {
    case 'open':
      budget = (await RedisBudgets.open(job.redisUrl, pino({ level: 'error' }))).budget('bench', LIMIT);
      return 0;
    case 'fill':
      for (let first = 0; first < job.credentials; first += 500) {
        const chunk = Array.from({ length: Math.min(500, job.credentials - first) }, (_, index) => first + index);
        await Promise.all(chunk.map(async (credential) => await budget.take(keyOf(credential))));
      }
      await new Promise((resolve) => setTimeout(resolve, 100)); // The results of the last calls stay in memory until then.
      globalThis.gc?.();
      return process.memoryUsage().heapUsed / MIB;
    case 'take':
      return await closedLoop({ lanes: job.lanes, seconds: job.seconds }, async () => {
        next = (next + STEP) % job.credentials;
        await budget.take(keyOf(next));
      });
  }
}

answerJobs(handle);
