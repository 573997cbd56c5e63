import type { FastifyReply } from 'fastify';
import { apiError } from '../errors.ts';

/** Length of the fixed window of a budget. A window begins with the first call of a key in it (decision 8). */
export const WINDOW_MS = 60_000;

/** State of a key's window after a call. */
export interface Taken {
  /** Number of calls in this window so far, including refused calls. */
  count: number;
  /** Time until the window ends, in milliseconds. */
  msLeft: number;
}

/** Number of calls that each key may make in a window, and the counter of these calls. */
export interface Budget {
  limit: number;
  /** Counts one call of the key, and returns the state of its window. */
  take: (key: string) => Taken | Promise<Taken>;
}

/** Store that counts the budgets of this process: its own memory, or Redis. */
export interface BudgetStore {
  /**
   * Creates a budget.
   * @param name keeps the keys of different budgets apart
   */
  budget(name: string, limit: number): Budget;
  close(): Promise<void>;
}

/** Creates budgets in the memory of this process. With several processes, a key may make `limit` calls in each of them. */
export function createMemoryBudgets(): BudgetStore {
  return {
    budget: (_name, limit) => ({ limit, take: createCounter() }),
    close: async () => {},
  };
}

/** Creates a function that counts the calls of a key in memory. Ended windows are removed when the next window begins. */
export function createCounter(windowMs = WINDOW_MS): (key: string) => Taken {
  /** Windows by key. All have the same length, so the map holds them in the order in which they end. */
  const windows = new Map<string, { count: number; endsAtMs: number }>();
  const removeEnded = (nowMs: number) => {
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
      removeEnded(nowMs);
      window = { count: 0, endsAtMs: nowMs + windowMs };
      windows.set(key, window);
    }
    window.count += 1;
    // Because of rounding, the difference may exceed the length of the window.
    return { count: window.count, msLeft: Math.min(windowMs, window.endsAtMs - nowMs) };
  };
}

/**
 * Takes one call from the budget of a key, and sets the headers that tell the rest of the budget (decision 8). A refused call does
 * not move the window.
 * @throws ApiError 429 `rate_limited` with `Retry-After` if the budget is used up
 */
export async function countCall({ limit, take }: Budget, key: string, reply: FastifyReply): Promise<void> {
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
