import { once } from 'node:events';
import type { RedisClientType } from 'redis';
import type { Logger } from 'pino';
import { type BudgetStore, createCounter, type Taken, WINDOW_MS } from './rate-limit.ts';

type EvalOptions = Parameters<RedisClientType['eval']>[1];

/** Time limit of a Redis command. After it, the process counts in its own memory, so that a hanging Redis does not delay callers. */
const COMMAND_TIMEOUT_MS = 500;
/** Time without a failure after which Redis counts as back. A Redis that is nearly full accepts some commands and refuses others. */
const CALM_MS = 1_000;

/** Redis script that counts one call of a key, and returns the count and the milliseconds until the window ends. */
const COUNT = `
  local count = redis.call('INCR', KEYS[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    left = tonumber(ARGV[1])
  end
  return {count, left}`;

/**
 * Creates budgets in Redis or Valkey, which all processes with this URL share. If Redis cannot be reached, does not respond in time
 * or refuses a command, the process counts in its own memory and logs this once. It also logs when Redis counts again. Resolves
 * when Redis is connected, or after half a second without Redis.
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

/** Connects a Redis client that counts calls. Each command has a time limit. */
async function connectRedis(url: string, log: Logger) {
  // Loaded only when it is needed. It has more files than any other package of the process, and most processes have no Redis.
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
  // A new connection ends all commands that wait on the old one, and it is ready only when Redis responds again.
  const reconnect = () => {
    if (client.isOpen) {
      lose('no response in time');
      client.destroy();
      connect();
    }
  };
  connect();
  // Without this wait, the first calls would be counted only in this process. The wait is bounded, so that the process starts without
  // Redis too.
  await once(client, 'ready', { signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS) }).catch(() => {});
  const evaluate = (options: EvalOptions) => inTime(client.eval(COUNT, options), reconnect);
  return {
    /** Counts one call. Returns null if Redis did not count it. */
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

/** Creates functions that log when Redis is lost and when it is back. The calls in between are not logged. */
function createReports(log: Logger) {
  let isLost = false;
  let failedAtMs = 0;
  return {
    lose(this: void, reason: string) {
      failedAtMs = performance.now();
      if (!isLost) {
        log.warn(
          { reason },
          'Redis does not count: this process counts the budgets in its own memory until Redis is back',
        );
      }
      isLost = true;
    },
    regain(this: void) {
      if (isLost && performance.now() - failedAtMs > CALM_MS) {
        log.info('Redis is back: the processes share the budgets again');
        isLost = false;
      }
    },
  };
}

/**
 * Calls `onLate` if Redis does not respond within the time limit. The timeout of the client library ends when the command is sent, so
 * it does not cover the response.
 */
function inTime<T>(response: Promise<T>, onLate: () => void): Promise<T> {
  let late: NodeJS.Immediate | undefined;
  // The immediate runs after the event loop has read a response that came while this process was busy.
  const timer = setTimeout(() => (late = setImmediate(onLate)), COMMAND_TIMEOUT_MS);
  return response.finally(() => {
    clearTimeout(timer);
    clearImmediate(late);
  });
}
