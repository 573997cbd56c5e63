import type { FastifyReply } from 'fastify';
import { apiError } from '../errors.ts';

/** Window in which the calls of a key, a credential or a user, are counted. Its first call begins it (rule 8). */
export const WINDOW_MS = 60_000;

/** Calls of one key in its current window. A key stands for one credential or user. */
export interface Seen {
  /** Number of calls in this window so far, including refused calls. */
  count: number;
  msLeft: number;
  /** True if all processes count together. If false, other processes may let in calls that `count` does not include. */
  isShared: boolean;
}

export interface Budget {
  limit: number;
  /** Counts a call. */
  take: (key: string) => Seen | Promise<Seen>;
  /** Returns the state of the key's window without counting a call. `count` and `msLeft` are zero if the key has no window. */
  look: (key: string) => Seen | Promise<Seen>;
}

export interface BudgetStore {
  budget(name: string, limit: number): Budget;
  close(): Promise<void>;
}

/** Creates budgets in the memory of this process. The older map of windows is dropped each `windowMs`, so no window needs a timer. */
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
      const seen = ({ count, endsAtMs }: Window, nowMs: number): Seen => ({
        count,
        msLeft: Math.min(windowMs, endsAtMs - nowMs),
        isShared: false,
      });
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
          return seen(window, nowMs);
        },
        look(key) {
          const nowMs = performance.now();
          return seen(find(key, nowMs) ?? { count: 0, endsAtMs: nowMs }, nowMs);
        },
      };
    },
    close: async () => {},
  };
}

interface Window {
  count: number;
  endsAtMs: number;
}

/** Counts one call, and sets the headers of the budget (rule 8). @throws ApiError 429 `rate_limited` if the budget is used up */
export async function countCall({ limit, take }: Budget, key: string, reply: FastifyReply): Promise<void> {
  const { count, msLeft } = await take(key);
  const resetSeconds = Math.max(1, Math.ceil(msLeft / 1000));
  reply.header('x-ratelimit-limit', String(limit));
  reply.header('x-ratelimit-remaining', String(Math.max(0, limit - count)));
  reply.header('x-ratelimit-reset', String(resetSeconds));
  if (count > limit) {
    const message = `The budget of ${limit} requests a minute is used up. Try again in ${resetSeconds} s.`;
    throw apiError('rate_limited', message, { 'retry-after': String(resetSeconds) });
  }
}
