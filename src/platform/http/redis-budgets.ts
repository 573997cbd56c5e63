import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClientType } from 'redis';
import type { Logger } from 'pino';
import { type BudgetStore, type Counter, createCounter, type Taken, WINDOW_MS } from './rate-limit.ts';

type RunScript = (script: string, options: Parameters<RedisClientType['eval']>[1]) => Promise<unknown>;

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
 * Redis script (Lua) that announces this process under its id. Returns the number of processes that announced themselves within the lifetime
 * of an announcement. The clock of Redis measures this time, so the clocks of the processes need not agree.
 */
const ANNOUNCE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;
/** Redis key of the sorted set of all processes that count their calls in this Redis. */
const NODES = 'roomservice:nodes';
/** Number of announcements that a process may miss before the other processes forget it. */
const MISSED_ANNOUNCEMENTS = 3;

/** Times in milliseconds. Tests shorten them. */
interface Times {
  windowMs: number;
  /** Time between two announcements of a process. */
  announceEveryMs: number;
  /**
   * Time after a failure of Redis during which a process keeps to its share of each budget, also if Redis counts again. It is longer than a
   * window, because the processes notice at different times that Redis is back. They try to connect every two seconds.
   */
  shareMs: number;
}

const TIMES: Times = { windowMs: WINDOW_MS, announceEveryMs: 5_000, shareMs: WINDOW_MS + 5_000 };

/**
 * Creates budgets in Redis or Valkey, which are shared by all processes with this URL. If Redis cannot be reached, does not respond in time
 * or refuses a command, the process counts in its own memory, and lets in only its share of each budget: the limit divided by the number of
 * processes that it last saw in Redis. It keeps to its share until a window has passed after the last failure. So a key gets at most two
 * budgets in a minute, although Redis may have lost its counts (docs/decisions/0016-budgets.md). The process logs once that Redis is lost, and logs again
 * when Redis is back. The promise resolves as soon as Redis is connected, or after half a second if Redis is not connected by then.
 */
export async function createRedisBudgets(url: string, log: Logger, times: Partial<Times> = {}): Promise<BudgetStore> {
  const allTimes = { ...TIMES, ...times };
  const redis = await connectRedis(url, log, allTimes);
  return {
    budget(name, limit) {
      const share = createShare(limit, allTimes.windowMs);
      const take = async (key: string): Promise<Taken> => {
        const mine = redis.hasFailedLately() ? share.take(key, redis.countNodes()) : null;
        if (mine !== null && mine.count > limit) {
          return mine;
        }
        const all = await redis.count(`roomservice:${name}:${key}`);
        if (all === null) {
          return mine ?? share.take(key, redis.countNodes());
        }
        if (mine !== null) {
          return all.count > mine.count ? all : mine;
        }
        if (!redis.hasFailedLately()) {
          share.follow(key, all);
        }
        return all;
      };
      return { limit, take };
    },
    close: async () => await redis.close(),
  };
}

/**
 * Creates the share of this process in a budget. Each call counts as one call of every process, because the process assumes that the other
 * processes let in as many calls as this process. Two counters bound the calls, and a call needs both:
 *
 * - `known` continues the window of Redis from the last count that this process saw. So the calls of all processes before the loss of Redis
 *   count, as far as this process knows them.
 * - `own` counts from the loss of Redis. So a process lets in only one share in the first minute after the loss, even if the window of
 *   Redis ends in this minute, or other processes have let in calls that this process does not know.
 */
function createShare(limit: number, windowMs: number) {
  const known = createCounter(windowMs);
  let own: Counter | null = null;
  return {
    /** Stores the state of the window of a key in Redis. */
    follow(key: string, taken: Taken): void {
      own = null;
      known.set(key, taken);
    },
    /** Counts a call against the share. Returns a count of which the rest, up to the limit, is what this process may still let in. */
    take(key: string, nodes: number): Taken {
      own ??= createCounter(windowMs);
      // If there are more processes than calls in the budget, each process lets in one call.
      const calls = Math.min(nodes, limit);
      const first = known.take(key, calls);
      if (first.count > limit) {
        return first;
      }
      const second = own.take(key, calls);
      const { count, msLeft } = second.count > first.count ? second : first;
      return { count: count > limit ? count : limit - Math.floor((limit - count) / calls), msLeft };
    },
  };
}

/** Connects a Redis client that counts calls and announces this process. Each command has a time limit. */
async function connectRedis(url: string, log: Logger, { windowMs, announceEveryMs, shareMs }: Times) {
  // The package `redis` is loaded only when it is needed, because it has more files than any other package, and most processes use no
  // Redis.
  const { createClient } = await import('redis');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(2_000, 50 * 2 ** tries) },
  });
  const { lose, regain, msSinceFailure } = createReports(log);
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
  /** Runs a script. Returns null if Redis could not run it. */
  const run: RunScript = async (script, options) => {
    if (!client.isReady) {
      lose('not connected');
      return null;
    }
    try {
      return await inTime(client.eval(script, options), reconnect);
    } catch (error) {
      lose((error as Error).message);
      return null;
    }
  };
  const hasFailedLately = () => msSinceFailure() < shareMs;
  const presence = createPresence(run, hasFailedLately, MISSED_ANNOUNCEMENTS * announceEveryMs);
  // Waits until Redis is connected, because the first calls would otherwise be counted only in this process. The wait is bounded, so that
  // the process starts even if Redis does not run.
  const announced = new Promise<void>((resolve) => {
    client.on('ready', () => void presence.announce().then(resolve));
  });
  connect();
  await Promise.race([announced, sleep(COMMAND_TIMEOUT_MS)]);
  const timer = setInterval(() => void presence.announce(), announceEveryMs).unref();
  return {
    /** Counts one call in Redis. Returns null if Redis could not count it. */
    async count(key: string): Promise<Taken | null> {
      const response = (await run(COUNT, { keys: [key], arguments: [String(windowMs)] })) as [number, number] | null;
      if (response === null) {
        return null;
      }
      regain();
      const [count, msLeft] = response;
      return { count, msLeft };
    },
    hasFailedLately,
    countNodes: presence.countNodes,
    /** Withdraws the announcement of this process if Redis responds in time, and closes the connection. */
    async close() {
      clearInterval(timer);
      if (client.isReady) {
        const withdrawn = client.zRem(NODES, presence.id).catch(() => {});
        await Promise.race([withdrawn, sleep(COMMAND_TIMEOUT_MS, undefined, { ref: false })]);
      }
      client.destroy();
    },
  };
}

/** Creates the announcement of this process in Redis, which ends `lifetimeMs` after the last call of `announce`. */
function createPresence(run: RunScript, hasFailedLately: () => boolean, lifetimeMs: number) {
  const id = randomUUID();
  let nodes = 1;
  return {
    id,
    async announce(): Promise<void> {
      const seen = (await run(ANNOUNCE, { keys: [NODES], arguments: [id, String(lifetimeMs)] })) as number | null;
      if (seen !== null) {
        // A Redis that has just come back may be empty. The other processes have perhaps not announced themselves again.
        nodes = hasFailedLately() ? Math.max(nodes, seen) : seen;
      }
    },
    /** Returns the number of processes that were last seen in Redis, including this process. */
    countNodes: () => nodes,
  };
}

/**
 * Creates the functions `lose` and `regain`, which log that Redis is lost and that it is back. They log only a change of this state, not
 * each call. `msSinceFailure` returns the milliseconds since the last call of `lose`.
 */
function createReports(log: Logger) {
  let isLost = false;
  let failedAtMs = Number.NEGATIVE_INFINITY;
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
    msSinceFailure: () => performance.now() - failedAtMs,
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
