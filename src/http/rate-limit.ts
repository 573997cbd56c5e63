import type { FastifyReply } from 'fastify';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisClientType } from 'redis';
import type { Logger } from 'pino';
import { apiError } from '../errors.ts';

type EvalOptions = Parameters<RedisClientType['eval']>[1];

const WINDOW_SECONDS = 60;
/** A Redis that hangs must not make callers wait: after this long the process's own memory answers. */
const COMMAND_TIMEOUT_MS = 500;

/** A budget of calls in a fixed window of 60 s that begins with a key's first call in it (decision 8). */
export interface Budget {
  limit: number;
  limiter: RateLimiterMemory | RateLimiterRedis;
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
    budget: (name, limit) => ({ limit, limiter: memoryLimiter(name, limit) }),
    close: async () => {},
  };
}

/**
 * Budgets in Redis or Valkey, shared by every process that uses it. A process that cannot reach it, or gets no answer in
 * time, goes on with its own memory, says so once, and says so when it is back.
 */
export async function createRedisBudgets(url: string, log: Logger): Promise<BudgetStore> {
  const storeClient = await connectRedis(url, log);
  return {
    budget: (name, limit) => ({
      limit,
      limiter: new RateLimiterRedis({
        storeClient,
        useRedisPackage: true,
        keyPrefix: `roomservice:${name}`,
        points: limit,
        duration: WINDOW_SECONDS,
        rejectIfRedisNotReady: true,
        insuranceLimiter: memoryLimiter(name, limit),
      }),
    }),
    close: async () => storeClient.destroy(),
  };
}

/** As much of a Redis client as the limiter uses, with a bound on how long an answer may take. */
async function connectRedis(url: string, log: Logger) {
  // Of everything a process loads it has the most files, and most processes have no Redis.
  const { createClient } = await import('redis');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(2_000, 50 * 2 ** tries) },
  });
  let isLost = false;
  const lose = (reason: string) => {
    if (!isLost) {
      log.warn({ reason }, 'Redis is out of reach: budgets are counted in this process alone until it is back');
    }
    isLost = true;
  };
  client.on('error', (error: Error) => lose(error.message));
  client.on('ready', () => {
    if (isLost) {
      log.info('Redis is back: budgets are shared again');
    }
    isLost = false;
  });
  const connect = () => void client.connect().catch(() => {});
  // A new connection fails whatever waits on the old one, and is not ready before Redis answers again.
  const reconnect = () => {
    if (client.isOpen) {
      lose('no answer in time');
      client.destroy();
      connect();
    }
  };
  connect();
  return {
    get isReady() {
      return client.isReady;
    },
    eval: (script: string, options: EvalOptions) => inTime(client.eval(script, options), reconnect),
    destroy: () => client.destroy(),
  };
}

/** The client's own timeout ends when a command is sent; this one ends when it is answered. */
function inTime<T>(answer: Promise<T>, onLate: () => void): Promise<T> {
  let late: NodeJS.Immediate | undefined;
  // An answer that came while this process was busy is read before the immediate.
  const timer = setTimeout(() => (late = setImmediate(onLate)), COMMAND_TIMEOUT_MS);
  return answer.finally(() => {
    clearTimeout(timer);
    clearImmediate(late);
  });
}

function memoryLimiter(name: string, limit: number): RateLimiterMemory {
  return new RateLimiterMemory({ keyPrefix: name, points: limit, duration: WINDOW_SECONDS });
}

/**
 * Takes one call from a key's budget and tells the caller what is left (decision 8). A refused call does not move the window.
 * @throws ApiError 429 `rate_limited` with `Retry-After` when nothing is left
 */
export async function takeFromBudget({ limit, limiter }: Budget, key: string, reply: FastifyReply): Promise<void> {
  const taken = await limiter.consume(key).catch((refusal: unknown) => refusal);
  if (!(taken instanceof RateLimiterRes)) {
    throw taken;
  }
  const resetSeconds = Math.max(1, Math.ceil(taken.msBeforeNext / 1000));
  reply.header('x-ratelimit-limit', String(limit));
  reply.header('x-ratelimit-remaining', String(Math.max(0, taken.remainingPoints)));
  reply.header('x-ratelimit-reset', String(resetSeconds));
  if (taken.consumedPoints > limit) {
    throw apiError(
      'rate_limited',
      `The budget of ${limit} requests a minute is used up. Try again in ${resetSeconds} s.`,
      {
        'retry-after': String(resetSeconds),
      },
    );
  }
}
