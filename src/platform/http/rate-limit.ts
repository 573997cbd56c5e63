import type { FastifyReply } from 'fastify';
import { apiError } from '../errors.ts';

/**
 * Length of the window in which the calls of a key are counted, in milliseconds. The first call of a key begins its window (decision 8).
 */
export const WINDOW_MS = 60_000;

/** State of the window of a key after a call. A key stands for one credential or user. */
export interface Taken {
  /** Number of calls in this window so far, including refused calls. */
  count: number;
  /** Time until the window ends, in milliseconds. */
  msLeft: number;
}

/** Number of calls that each key may make in one window, and the function that counts them. */
export interface Budget {
  limit: number;
  /** Counts one call of the key, and returns the state of its window. */
  take: (key: string) => Taken | Promise<Taken>;
}

/** Store that counts calls against budgets: the memory of this process, or Redis. */
export interface BudgetStore {
  /**
   * Creates a budget.
   * @param name name of the budget. The same key in two budgets is counted separately.
   */
  budget(name: string, limit: number): Budget;
  close(): Promise<void>;
}

/**
 * Creates budgets that are counted in the memory of this process. If several processes run, a key may make `limit` calls in each of them.
 */
export function createMemoryBudgets(): BudgetStore {
  return {
    budget: (_name, limit) => ({ limit, take: createCounter() }),
    close: async () => {},
  };
}

/** Creates a function that counts the calls of each key in memory. When a window begins, it removes the windows that have ended. */
export function createCounter(windowMs = WINDOW_MS): (key: string) => Taken {
  /** Windows by key, in the order in which they end. All windows have the same length, so this is the order in which they were added. */
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
    // Both times are rounded, so their difference may be slightly larger than the length of the window. `min` corrects this.
    return { count: window.count, msLeft: Math.min(windowMs, window.endsAtMs - nowMs) };
  };
}

/**
 * Counts one call against the budget of a key, and sets the response headers that show what is left of the budget (decision 8). A refused
 * call does not postpone the end of the window.
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
