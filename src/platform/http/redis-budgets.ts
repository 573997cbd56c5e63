import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createClient } from 'redis';
import { inTime } from '../lib/in-time.ts';
import { type Budget, type BudgetStore, type Seen, WINDOW_MS } from './rate-limit.ts';

const PROCESSES = 'roomservice:nodes';
/**
 * Announces the process `ARGV[1]` for `ARGV[2]` ms, and returns the number of announced processes. The clock of Redis measures the time.
 * A Redis without memory refuses only the first write of a script, and only one that adds data, so the ZADD comes first.
 */
const ANNOUNCE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;
/** A silent connection is opened again after this time. The announcements use a healthy connection more often. */
const SILENCE_MS = 12_000;
const CONNECT_TIMEOUT_MS = 2_000;

const TIMES = {
  windowMs: WINDOW_MS,
  commandMs: 500,
  retryMs: 1_000,
  announceEveryMs: 5_000,
  /** Time after its last announcement during which the other processes still count a process. */
  announcementMs: 15_000,
  /** Redis may have lost its counts. Longer than a window, because the processes notice its return some seconds apart. */
  shareMs: WINDOW_MS + 5_000,
};

/** While Redis is lost, and some time after, each process lets in its share: the limit divided by the processes that it last saw. */
export class RedisBudgets implements BudgetStore {
  readonly #log: Logger;
  readonly #times: typeof TIMES;
  readonly #client;
  readonly #id = randomUUID();
  readonly #announcing: NodeJS.Timeout;
  #processes = 1;
  #isLost = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #retryAtMs = 0;

  private constructor(url: string, log: Logger, times: typeof TIMES) {
    this.#log = log;
    this.#times = times;
    const reconnectStrategy = (tries: number) => Math.min(times.retryMs, 50 * 2 ** tries);
    this.#client = createRedisClient(url, reconnectStrategy);
    this.#client.on('error', (error: Error) => this.#lose(error));
    this.#announcing = setInterval(() => void this.#announce(), times.announceEveryMs).unref();
  }

  /** Opens the budgets. Resolves as soon as Redis is connected, or after half a second without a connection. */
  static async open(url: string, log: Logger, times: Partial<typeof TIMES> = {}): Promise<RedisBudgets> {
    const budgets = new RedisBudgets(url, log, { ...TIMES, ...times });
    const connected = budgets.#client.connect().then(
      async () => await budgets.#announce(),
      (error: Error) => budgets.#lose(error),
    );
    await Promise.race([connected, sleep(budgets.#times.commandMs)]);
    return budgets;
  }

  /** Number of processes that share the budgets, as this process last saw it in Redis. Includes this process. */
  get processes(): number {
    return this.#processes;
  }

  budget(name: string, limit: number): Budget {
    const options = { points: limit, duration: this.#times.windowMs / 1000, keyPrefix: `roomservice:${name}` };
    const all = new RateLimiterRedis({ ...options, storeClient: this.#client, useRedisPackage: true });
    const mine = new RateLimiterMemory(options);
    const ask = async (limiter: typeof all | typeof mine, key: string, how: 'consume' | 'get'): Promise<Seen> => {
      const { consumedPoints = 0, msBeforeNext = 0 } = (await limiter[how](key).catch(resultOfRefusal)) ?? {};
      // The points of a share that belong to other processes count as used.
      return { count: limit - limiter.points + consumedPoints, msLeft: msBeforeNext, isShared: limiter === all };
    };
    const count = async (key: string, how: 'consume' | 'get'): Promise<Seen> => {
      mine.points = Math.max(1, Math.floor(limit / this.#processes));
      const share = this.#hasFailedLately() ? await ask(mine, key, how) : null;
      if (share !== null && share.count > limit) {
        return share;
      }
      // A Redis without memory still answers reads, so only a counted call shows that it is back.
      const shared = how === 'get' && this.#isLost ? null : await this.#unlessLost(() => ask(all, key, how));
      if (share === null) {
        return shared ?? (await ask(mine, key, how));
      }
      return shared === null || shared.count <= share.count ? share : { ...shared, isShared: false };
    };
    return { limit, take: (key) => count(key, 'consume'), look: (key) => count(key, 'get') };
  }

  async close(): Promise<void> {
    clearInterval(this.#announcing);
    this.#client.destroy();
  }

  #hasFailedLately(): boolean {
    return performance.now() - this.#failedAtMs < this.#times.shareMs;
  }

  async #announce(): Promise<void> {
    const values = { keys: [PROCESSES], arguments: [this.#id, String(this.#times.announcementMs)] };
    const count = await this.#unlessLost(() => this.#client.eval(ANNOUNCE, values));
    // A Redis that has lost its data counts only the processes that have announced themselves since.
    this.#processes = Math.max(Number(count ?? 0), this.#hasFailedLately() ? this.#processes : 1);
  }

  /** Returns null if the work fails or is late. While Redis is lost, one call in `retryMs` tries it, and the others do not wait. */
  async #unlessLost<T>(work: () => Promise<T>): Promise<T | null> {
    const nowMs = performance.now();
    if (this.#isLost && nowMs < this.#retryAtMs) {
      return null;
    }
    this.#retryAtMs = nowMs + this.#times.retryMs;
    try {
      const result = await inTime(this.#times.commandMs, work);
      if (this.#isLost) {
        this.#isLost = false;
        this.#log.info('Redis is back: the processes share the budgets again');
      }
      return result;
    } catch (error) {
      this.#lose(error as Error);
      return null;
    }
  }

  #lose({ message }: Error): void {
    this.#failedAtMs = performance.now();
    if (!this.#isLost) {
      this.#isLost = true;
      this.#log.warn(
        { reason: message },
        'Redis cannot be used, so this process counts the budgets in its own memory until Redis is back',
      );
    }
  }
}

function createRedisClient(url: string, reconnectStrategy: false | ((tries: number) => number)) {
  return createClient({
    url,
    // A command fails immediately if the connection is lost. By default, it would wait until the connection is open again.
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_MS, reconnectStrategy },
  });
}

/** Returns the result of a call that a limiter has refused, because the library throws this result like an error. */
function resultOfRefusal(thrown: unknown): RateLimiterRes {
  if (thrown instanceof RateLimiterRes) {
    return thrown;
  }
  throw thrown;
}

/** Connects to Redis and runs a script that changes no data. @throws Error with the reason if this fails */
export async function checkRedis(url: string, limitMs: number): Promise<void> {
  const client = createRedisClient(url, false);
  client.on('error', () => {}); // The promise of `connect` has the error too.
  try {
    await inTime(limitMs, async () => {
      await client.connect();
      await client.eval('return 1');
    });
  } finally {
    if (client.isOpen) {
      client.destroy();
    }
  }
}
