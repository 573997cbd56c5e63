import type { FastifyReply } from 'fastify';
import { apiError } from '../errors.ts';

/**
 * Length in milliseconds of the window (the period) in which calls are counted. Each key has its own window and count. A key stands for one
 * credential or user, and its first call begins a window (decision 8).
 */
export const WINDOW_MS = 60_000;

/** Calls of one key in its current window, after a call is counted. A key stands for one credential or user. */
export interface Taken {
  /** Number of calls in this window so far, including refused calls. */
  count: number;
  /** Time until the window ends, in milliseconds. */
  msLeft: number;
}

/** Calls of one key in its current window, read without counting a call. */
export interface Seen extends Taken {
  /**
   * True if all processes of the service count together. False if this process counts alone, for example while Redis is lost. Other
   * processes may then let in calls that `count` does not include.
   */
  isShared: boolean;
}

/** Number of calls that each key may make in one window, and the functions that count the calls of a key. */
export interface Budget {
  limit: number;
  /** Counts one call of the key, and returns the new state of its window. */
  take: (key: string) => Taken | Promise<Taken>;
  /** Returns the state of the key's window without counting a call. `count` and `msLeft` are zero if the key has no window. */
  look: (key: string) => Seen | Promise<Seen>;
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
 * Windows are in two maps. Each `windowMs`, the older map is dropped, because all its windows have ended. So no key needs a timer, and no
 * call searches for windows that have ended.
 */
export function createMemoryBudgets(windowMs = WINDOW_MS): BudgetStore {
  return {
    budget(_name, limit) {
      let newer = new Map<string, Window>();
      let older = newer;
      let newerUntilMs = 0;
      const find = (key: string, nowMs: number) => {
        const window = newer.get(key) ?? older.get(key);
        return window !== undefined && window.endsAtMs > nowMs ? window : null;
      };
      // Floating-point numbers are rounded, so the difference may be slightly larger than the length of the window. `min` corrects this.
      const msLeft = ({ endsAtMs }: Window, nowMs: number) => Math.min(windowMs, endsAtMs - nowMs);
      return {
        limit,
        take(key) {
          const nowMs = performance.now();
          if (nowMs >= newerUntilMs) {
            older = nowMs >= newerUntilMs + windowMs ? new Map() : newer;
            newer = new Map();
            newerUntilMs = nowMs + windowMs;
          }
          let window = find(key, nowMs);
          if (window === null) {
            window = { count: 0, endsAtMs: nowMs + windowMs };
            newer.set(key, window);
          }
          window.count += 1;
          return { count: window.count, msLeft: msLeft(window, nowMs) };
        },
        look(key) {
          const nowMs = performance.now();
          const window = find(key, nowMs);
          return { count: window?.count ?? 0, msLeft: window ? msLeft(window, nowMs) : 0, isShared: false };
        },
      };
    },
    close: async () => {},
  };
}

/** Window of a key. `endsAtMs` is a value of `performance.now()`. */
interface Window {
  count: number;
  endsAtMs: number;
}

/**
 * Counts one call against the budget of a key, and sets the response headers about the budget (decision 8). A refused call does not
 * postpone the end of the window.
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
