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
 */
export function createMemoryBudgets(): BudgetStore {
  return {
    budget(_name, limit) {
      const { take, look } = createCounter();
      return { limit, take, look: (key) => ({ ...look(key), isShared: false }) };
    },
    close: async () => {},
  };
}

/** Counter of the calls of each key, in the memory of this process. Ended windows are dropped, so the memory stays bounded. */
export interface Counter {
  /** Adds a number of calls to the window of the key, and returns the new state of the window. Default of `calls`: 1. */
  take: (key: string, calls?: number) => Taken;
  /** Returns the state of the key's window without counting a call. `count` and `msLeft` are zero if the key has no window. */
  look: (key: string) => Taken;
  /** Replaces the window of the key by a window that another store, such as Redis, has counted. `take` then continues this window. */
  set: (key: string, taken: Taken) => void;
}

/** Window of a key. `endsAtMs` is a value of `performance.now()`. */
interface Window {
  count: number;
  endsAtMs: number;
}

/**
 * Creates a counter whose windows last `windowMs` milliseconds.
 *
 * The counter keeps the windows in two maps, `newer` and `older`, and adds new windows to `newer`. After each `windowMs`, the counter drops
 * the map `older`, because all its windows have ended. The map `newer` then becomes `older`, and an empty map becomes `newer`. So no key
 * needs a timer, and no call searches for windows that have ended.
 */
export function createCounter(windowMs = WINDOW_MS): Counter {
  let newer = new Map<string, Window>();
  let older = new Map<string, Window>();
  let newerUntilMs = 0;
  const dropEnded = (nowMs: number) => {
    if (nowMs >= newerUntilMs) {
      older = nowMs >= newerUntilMs + windowMs ? new Map() : newer;
      newer = new Map();
      newerUntilMs = nowMs + windowMs;
    }
  };
  return {
    take(key, calls = 1) {
      const nowMs = performance.now();
      dropEnded(nowMs);
      let window = newer.get(key) ?? older.get(key);
      if (window === undefined || window.endsAtMs <= nowMs) {
        window = { count: 0, endsAtMs: nowMs + windowMs };
        newer.set(key, window);
      }
      window.count += calls;
      // Floating-point numbers are rounded, so the difference may be slightly larger than the length of the window. `min` corrects this.
      return { count: window.count, msLeft: Math.min(windowMs, window.endsAtMs - nowMs) };
    },
    look(key) {
      const window = newer.get(key) ?? older.get(key);
      const msLeft = window === undefined ? 0 : Math.min(windowMs, window.endsAtMs - performance.now());
      return window === undefined || msLeft <= 0 ? { count: 0, msLeft: 0 } : { count: window.count, msLeft };
    },
    set(key, { count, msLeft }) {
      const nowMs = performance.now();
      dropEnded(nowMs);
      const window = newer.get(key);
      if (window === undefined) {
        newer.set(key, { count, endsAtMs: nowMs + msLeft });
      } else {
        window.count = count;
        window.endsAtMs = nowMs + msLeft;
      }
    },
  };
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
