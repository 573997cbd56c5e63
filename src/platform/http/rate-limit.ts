import type { FastifyReply } from 'fastify';
import { apiError } from '../errors.ts';

/** A budget is for a fixed window that begins with a key's first call in it (decision 8). */
export const WINDOW_MS = 60_000;

/** Where a key stands in its window after a call. */
export interface Taken {
  /** Calls in this window up to now, the refused ones included. */
  count: number;
  msLeft: number;
}

/** How many calls each key may make in a window. */
export interface Budget {
  limit: number;
  /** Counts one call. */
  take: (key: string) => Taken | Promise<Taken>;
}

/** Where the budgets of this process are counted. */
export interface BudgetStore {
  /** @param name keeps the keys of different budgets apart */
  budget(name: string, limit: number): Budget;
  close(): Promise<void>;
}

/** Budgets in this process's memory: right for one process, `limit` times the number of processes for several. */
export function createMemoryBudgets(): BudgetStore {
  return {
    budget: (_name, limit) => ({ limit, take: createCounter() }),
    close: async () => {},
  };
}

/** Counts the calls of each key in memory, which keeps no more than the keys of one window. */
export function createCounter(windowMs = WINDOW_MS): (key: string) => Taken {
  /** All last equally long, so they end in the order in which they stand here. */
  const windows = new Map<string, { count: number; endsAtMs: number }>();
  const forgetEnded = (nowMs: number) => {
    for (const [key, { endsAtMs }] of windows) {
      if (endsAtMs > nowMs) {
        return;
      }
      windows.delete(key);
    }
  };
  return (key) => {
    const nowMs = performance.now();
    let window = windows.get(key);
    if (window === undefined || window.endsAtMs <= nowMs) {
      forgetEnded(nowMs);
      window = { count: 0, endsAtMs: nowMs + windowMs };
      windows.set(key, window);
    }
    window.count += 1;
    // In sums of fractions the rest may come out above the whole.
    return { count: window.count, msLeft: Math.min(windowMs, window.endsAtMs - nowMs) };
  };
}

/**
 * Takes one call from a key's budget and tells the caller what is left (decision 8). A refused call does not move the window.
 * @throws ApiError 429 `rate_limited` with `Retry-After` when nothing is left
 */
export async function takeFromBudget({ limit, take }: Budget, key: string, reply: FastifyReply): Promise<void> {
  const { count, msLeft } = await take(key);
  const resetSeconds = Math.max(1, Math.ceil(msLeft / 1000));
  reply.header('x-ratelimit-limit', String(limit));
  reply.header('x-ratelimit-remaining', String(Math.max(0, limit - count)));
  reply.header('x-ratelimit-reset', String(resetSeconds));
  if (count > limit) {
    throw apiError(
      'rate_limited',
      `The budget of ${limit} requests a minute is used up. Try again in ${resetSeconds} s.`,
      {
        'retry-after': String(resetSeconds),
      },
    );
  }
}
