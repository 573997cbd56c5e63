import { once } from 'node:events';
import type { RedisClientType } from 'redis';
import type { Logger } from 'pino';
import { type BudgetStore, createCounter, type Taken, WINDOW_MS } from './rate-limit.ts';

type EvalOptions = Parameters<RedisClientType['eval']>[1];

/** A Redis that hangs must not make callers wait: after this long the process's own memory answers. */
const COMMAND_TIMEOUT_MS = 500;
/** It is back when it has not failed for so long: one that is nearly full takes some calls and refuses others. */
const CALM_MS = 1_000;

/** Counts one call of a key, and tells the milliseconds that its window has left. */
const COUNT = `
  local count = redis.call('INCR', KEYS[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    left = tonumber(ARGV[1])
  end
  return {count, left}`;

/**
 * Budgets in Redis or Valkey, shared by every process that uses it. A process that cannot reach it, gets no answer in time or is
 * refused goes on with its own memory and says so once; with the first call that is shared again it says that, too. Given back once
 * Redis is there, or after half a second without it.
 */
export async function createRedisBudgets(url: string, log: Logger): Promise<BudgetStore> {
  const client = await connectRedis(url, log);
  return {
    budget(name, limit) {
      const countHere = createCounter();
      const take = async (key: string): Promise<Taken> =>
        (await client.count(`roomservice:${name}:${key}`)) ?? countHere(key);
      return { limit, take };
    },
    close: async () => client.destroy(),
  };
}

/** A Redis client that counts, with a bound on how long an answer may take. */
async function connectRedis(url: string, log: Logger) {
  // Of everything a process loads it has the most files, and most processes have no Redis.
  const { createClient } = await import('redis');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(2_000, 50 * 2 ** tries) },
  });
  const { lose, regain } = createReports(log);
  client.on('error', (error: Error) => lose(error.message));
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
  // Not one call is to be counted here alone for want of some milliseconds. A Redis that is away keeps nobody from starting.
  await once(client, 'ready', { signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS) }).catch(() => {});
  const evaluate = (options: EvalOptions) => inTime(client.eval(COUNT, options), reconnect);
  return {
    /** Null where Redis did not count. */
    async count(key: string): Promise<Taken | null> {
      if (!client.isReady) {
        return null;
      }
      try {
        const [count, msLeft] = (await evaluate({ keys: [key], arguments: [String(WINDOW_MS)] })) as [number, number];
        regain();
        return { count, msLeft };
      } catch (error) {
        lose((error as Error).message);
        return null;
      }
    },
    destroy: () => client.destroy(),
  };
}

/** What the log is told: when Redis is lost and when it is back, not of each call in between. */
function createReports(log: Logger) {
  let isLost = false;
  let failedAtMs = 0;
  return {
    lose(this: void, reason: string) {
      failedAtMs = performance.now();
      if (!isLost) {
        log.warn({ reason }, 'Redis is out of reach: budgets are counted in this process alone until it is back');
      }
      isLost = true;
    },
    regain(this: void) {
      if (isLost && performance.now() - failedAtMs > CALM_MS) {
        log.info('Redis is back: budgets are shared again');
        isLost = false;
      }
    },
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
