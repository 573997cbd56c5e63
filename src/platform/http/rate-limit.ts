import type { FastifyReply } from 'fastify';
import { apiError } from '../errors.ts';

/** Window in which the calls of a key, a credential or a user, are counted. Its first call begins it (decision 8). */
export const WINDOW_MS = 60_000;

/** Calls of one key in its current window, after a call is counted. A key stands for one credential or user. */
export interface Taken {
  /** Number of calls in this window so far, including refused calls. */
  count: number;
  msLeft: number;
}

export interface Seen extends Taken {
  /** True if all processes count together. If false, other processes may let in calls that `count` does not include. */
  isShared: boolean;
}

export interface Budget {
  limit: number;
  take: (key: string) => Taken | Promise<Taken>;
  /** Returns the state of the key's window without counting a call. `count` and `msLeft` are zero if the key has no window. */
  look: (key: string) => Seen | Promise<Seen>;
}

export interface BudgetStore {
  budget(name: string, limit: number): Budget;
  close(): Promise<void>;
}

/** Creates budgets in the memory of this process. Windows that have ended are removed each `windowMs`. */
export function createMemoryBudgets(windowMs = WINDOW_MS): BudgetStore {
  return {
    budget(_name, limit) {
      const windows = new Map<string, { count: number; endsAtMs: number }>();
      let removedAtMs = 0;
      const look = (key: string, nowMs = performance.now()) => {
        const { count = 0, endsAtMs = 0 } = windows.get(key) ?? {};
        // Floating-point numbers are rounded, so the difference may be slightly larger than the length of the window.
        const msLeft = Math.min(windowMs, Math.max(0, endsAtMs - nowMs));
        return { count: msLeft > 0 ? count : 0, msLeft, isShared: false };
      };
      const removeEnded = (nowMs: number) => {
        removedAtMs = nowMs;
        windows.forEach(({ endsAtMs }, key) => endsAtMs <= nowMs && windows.delete(key));
      };
      return {
        limit,
        take(key) {
          const nowMs = performance.now();
          if (nowMs >= removedAtMs + windowMs) {
            removeEnded(nowMs);
          }
          const { count, msLeft } = look(key, nowMs);
          const taken = { count: count + 1, msLeft: msLeft || windowMs };
          windows.set(key, { count: taken.count, endsAtMs: nowMs + taken.msLeft });
          return taken;
        },
        look: (key) => look(key),
      };
    },
    close: async () => {},
  };
}

/** Counts one call, and sets the headers of the budget (decision 8). @throws ApiError 429 `rate_limited` if the budget is used up */
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
