import { once } from 'node:events';
import type { RedisClientType } from 'redis';
import type { Logger } from 'pino';
import { type BudgetStore, createCounter, type Taken, WINDOW_MS } from './rate-limit.ts';

type EvalOptions = Parameters<RedisClientType['eval']>[1];

/**
 * Time limit of a Redis command in milliseconds. If Redis does not respond within it, the process counts the call in its own memory, so
 * that a hanging Redis does not delay callers.
 */
const COMMAND_TIMEOUT_MS = 500;
/**
 * Time in milliseconds that must pass without a failure before the process logs that Redis is available again. A Redis that is nearly full
 * accepts some commands and refuses others. Without this time, the log would report such a Redis as lost and available many times.
 */
const CALM_MS = 1_000;

/**
 * Redis script (Lua) that counts one call of a key. Returns the number of calls in the window, and the milliseconds until the window ends.
 */
const COUNT = `
  local count = redis.call('INCR', KEYS[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    left = tonumber(ARGV[1])
  end
  return {count, left}`;

/**
 * Creates budgets in Redis or Valkey, which are shared by all processes with this URL. If Redis cannot be reached, does not respond in time
 * or refuses a command, the process counts in its own memory. It logs this once, and logs again when Redis is back. The promise resolves as
 * soon as Redis is connected, or after half a second if Redis is not connected by then.
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

/** Connects a Redis client whose only command counts a call. The command has a time limit. */
async function connectRedis(url: string, log: Logger) {
  // The package `redis` is loaded only when it is needed, because it has more files than any other package, and most processes use no
  // Redis.
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
  // Opening a new connection ends all commands that still wait on the old connection. The client is ready again only when Redis responds.
  const reconnect = () => {
    if (client.isOpen) {
      lose('no response in time');
      client.destroy();
      connect();
    }
  };
  connect();
  // Waits until Redis is connected, because the first calls would otherwise be counted only in this process. The wait is bounded, so that
  // the process starts even if Redis does not run.
  await once(client, 'ready', { signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS) }).catch(() => {});
  const evaluate = (options: EvalOptions) => inTime(client.eval(COUNT, options), reconnect);
  return {
    /** Counts one call in Redis. Returns null if Redis could not count it. */
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

/**
 * Creates the functions `lose` and `regain`, which log that Redis is lost and that it is back. They log only a change of this state, not
 * each call.
 */
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
 * Calls `onLate` if Redis does not respond within the time limit. The timeout of the client library is not enough, because it covers only
 * the time until the command is sent.
 */
function inTime<T>(response: Promise<T>, onLate: () => void): Promise<T> {
  let late: NodeJS.Immediate | undefined;
  // If this process was busy, the response of Redis may have arrived in time, but the process has not read it yet. So `onLate` runs only
  // after the event loop had a chance to read the response.
  const timer = setTimeout(() => (late = setImmediate(onLate)), COMMAND_TIMEOUT_MS);
  return response.finally(() => {
    clearTimeout(timer);
    clearImmediate(late);
  });
}
