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
    budget: (_name, limit) => ({ limit, take: createCounter().take }),
    close: async () => {},
  };
}

/** Counter of the calls of each key, in the memory of this process. It keeps only the keys that had a call in the last two windows. */
export interface Counter {
  /** Counts one call of the key, or as many calls as `calls` says, and returns the state of its window. */
  take: (key: string, calls?: number) => Taken;
  /** Replaces the window of the key with a window that is counted elsewhere. `take` continues this window. */
  set: (key: string, taken: Taken) => void;
}

/** Creates a counter whose windows last `windowMs` milliseconds. When a window begins, the counter removes windows that have ended. */
export function createCounter(windowMs = WINDOW_MS): Counter {
  /**
   * Windows by key, in the order in which they were added. A window that was added by `take` ends after all windows before it. A window that
   * was added by `set` may end earlier, and is then removed together with the window before it.
   */
  const windows = new Map<string, { count: number; endsAtMs: number }>();
  const add = (key: string, nowMs: number, window: { count: number; endsAtMs: number }) => {
    // A Map leaves a key that is set again at its old place. So the key is deleted first, to add the new window at the end.
    if (windows.has(key)) {
      windows.delete(key);
    }
    for (const [other, { endsAtMs }] of windows) {
      if (endsAtMs > nowMs) {
        break;
      }
      windows.delete(other);
    }
    windows.set(key, window);
    return window;
  };
  return {
    take(key, calls = 1) {
      const nowMs = performance.now();
      let window = windows.get(key);
      if (window === undefined || window.endsAtMs <= nowMs) {
        window = add(key, nowMs, { count: 0, endsAtMs: nowMs + windowMs });
      }
      window.count += calls;
      // Both times are rounded, so their difference may be slightly larger than the length of the window. `min` corrects this.
      return { count: window.count, msLeft: Math.min(windowMs, window.endsAtMs - nowMs) };
    },
    set(key, { count, msLeft }) {
      const nowMs = performance.now();
      add(key, nowMs, { count, endsAtMs: nowMs + msLeft });
    },
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
