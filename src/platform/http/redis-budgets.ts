import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type Budget, type BudgetStore, type Counter, createCounter, type Taken, WINDOW_MS } from './rate-limit.ts';
import { RedisLink } from './redis-link.ts';
import type { RedisServers } from './redis-servers.ts';

/**
 * Redis script (Lua) that counts one call of a key. Returns the number of calls in the key's window, and the milliseconds until the window
 * ends.
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
 * Redis script (Lua) that reads the window of a key without counting a call. Returns the number of calls in the window, and the
 * milliseconds until the window ends. Both numbers are zero if the key has no window.
 */
const LOOK = `return {tonumber(redis.call('GET', KEYS[1]) or 0), math.max(0, redis.call('PTTL', KEYS[1]))}`;

/**
 * Redis script (Lua) that announces this process under its id. An announcement ends after the time in `ARGV[2]`. Returns the number of
 * processes whose announcement has not ended. The clock of Redis measures the time, so the clocks of the processes need not agree.
 */
const ANNOUNCE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;
/**
 * Redis script (Lua) that removes the entry that `ANNOUNCE` added for this process. The other processes then no longer count this process.
 */
const WITHDRAW = `return redis.call('ZREM', KEYS[1], ARGV[1])`;
/**
 * Redis key of the sorted set with the announcements of all processes. In a cluster, each server has such a set, under a key that begins
 * with this text.
 */
const NODES = 'roomservice:nodes';
/**
 * Number of keys from which the processes choose one key for each server of a cluster. Under each chosen key, every process announces that
 * it runs. The hash slots of the keys are spread over the servers.
 */
const PRESENCE_KEYS = 64;
/** Budgets in Redis, which several processes share. */
export interface RedisBudgets extends BudgetStore {
  /** Returns the number of processes that share the budgets, as this process last saw it in Redis. Includes this process. */
  countProcesses: () => number;
}

/** Times in milliseconds. Tests override them. */
interface Times {
  windowMs: number;
  /**
   * Time limit of a Redis command. If Redis does not respond in this time, the process counts the call in its own memory. So a hanging Redis
   * does not delay callers for long.
   */
  commandMs: number;
  /** Time after which a process announces again in Redis that it still runs. */
  announceEveryMs: number;
  /** Time after its last announcement during which the other processes still count a process. It allows for a few missed announcements. */
  announcementMs: number;
  /**
   * Time after a failure of Redis during which a process lets in only its share of each budget, even if Redis counts again. It is longer
   * than a window (`windowMs`), so that a window that began during the loss ends before the whole budget applies again. Some processes
   * notice up to two seconds later than others that Redis is back, so a few seconds are added.
   */
  shareMs: number;
  /** Maximum time between two attempts to connect to a server that is lost. */
  reconnectEveryMs: number;
}

const TIMES: Times = {
  windowMs: WINDOW_MS,
  commandMs: 500,
  announceEveryMs: 5_000,
  announcementMs: 15_000,
  shareMs: WINDOW_MS + 5_000,
  reconnectEveryMs: 2_000,
};

/**
 * Creates budgets in Redis or Valkey, which are shared by all processes with this URL (`lib/redis-url.ts` describes its forms). The promise
 * resolves as soon as Redis is connected, or after half a second without a connection.
 *
 * Redis fails if it is out of reach, does not respond in time or refuses a command. The process then counts in its own memory, with these
 * rules:
 * - It lets in only its share of each budget. The share is the limit divided by the last known number of processes.
 * - It keeps to its share for more than a minute after the last failure, because Redis may have lost its counts.
 * - If one server of a Redis Cluster fails, the shares apply only to the budgets on this server.
 *
 * Calls are counted in windows of one minute. In one window, all processes together let in at most the budget of a credential or user. Any
 * minute overlaps at most two windows, so at most twice as many calls are let in during a minute. This also holds if Redis is lost or comes
 * back in this minute. docs/decisions/0016-budgets.md gives the reasons and the exceptions.
 *
 * The process logs once that Redis is lost, and once that Redis is back.
 * @param url a URL that `parseRedisUrl` accepts
 */
export async function createRedisBudgets(url: string, log: Logger, times: Partial<Times> = {}): Promise<RedisBudgets> {
  const { windowMs, commandMs, announceEveryMs, announcementMs, shareMs, reconnectEveryMs } = { ...TIMES, ...times };
  const presence = createPresence(announcementMs, shareMs);
  const link = await RedisLink.open(
    url,
    // A server that comes back may have lost its data. So this process immediately announces itself again, and the other processes soon
    // count this process.
    { log, commandMs, reconnectEveryMs, onFound: (found) => void presence.announce(found) },
    async (opened) => await presence.announce(opened),
  );
  const { losses } = link;
  const hasFailedLately = (slot: number) => losses.msSinceFailure(slot) < shareMs;
  const stop = repeat(announceEveryMs, async () => {
    if (losses.msSinceLoss() > announceEveryMs) {
      await link.renew(announceEveryMs);
    }
    await presence.announce(link);
  });
  return {
    budget: (name, limit) => createBudget(name, limit, { windowMs, link, presence, hasFailedLately }),
    countProcesses: presence.countNodes,
    async close() {
      stop();
      await link.close(async () => await presence.withdraw(link));
    },
  };
}

interface Parts {
  windowMs: number;
  link: RedisLink;
  presence: Presence;
  /** Returns true if Redis failed recently for this slot. This process then lets in only its share of the budgets of the slot. */
  hasFailedLately: (slot: number) => boolean;
}

/** Creates a budget. Redis counts its calls, or this process counts them while Redis is lost. */
function createBudget(name: string, limit: number, { windowMs, link, presence, hasFailedLately }: Parts): Budget {
  const share = createShare(limit, windowMs);
  /** Runs a script that returns the state of a window. Returns null if Redis is lost. */
  const run = async ({ key, slot }: KeyInRedis, text: string, values: string[]): Promise<Taken | null> => {
    const response = (await link.runUnlessLost(slot, { text, key, values })) as [number, number] | null;
    return response && { count: response[0], msLeft: response[1] };
  };
  return {
    limit,
    async take(key) {
      const inRedis = budgetKey(link.servers, name, key);
      const { slot } = inRedis;
      const mine = hasFailedLately(slot) ? share.take(slot, key, presence.countNodes()) : null;
      if (mine !== null && mine.count > limit) {
        return mine;
      }
      const all = await run(inRedis, COUNT, [String(windowMs)]);
      if (all === null) {
        return mine ?? share.take(slot, key, presence.countNodes());
      }
      if (mine !== null) {
        return all.count > mine.count ? all : mine;
      }
      if (!hasFailedLately(slot)) {
        share.follow(slot, key, all);
      }
      return all;
    },
    async look(key) {
      const inRedis = budgetKey(link.servers, name, key);
      const { slot } = inRedis;
      const all = await run(inRedis, LOOK, []);
      if (all !== null && !hasFailedLately(slot)) {
        return { ...all, isShared: true };
      }
      // After a failure of Redis, this process lets in only its share for some time, even if Redis counts again.
      const mine = share.look(slot, key, presence.countNodes());
      return { ...(all !== null && all.count > mine.count ? all : mine), isShared: false };
    },
  };
}

/**
 * Runs `work` every `everyMs` milliseconds, but skips a run if the previous run has not ended. Returns a function that stops the
 * repetition.
 */
function repeat(everyMs: number, work: () => Promise<void>): () => void {
  let isRunning = false;
  const timer = setInterval(() => {
    if (!isRunning) {
      isRunning = true;
      void work().finally(() => (isRunning = false));
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/**
 * Creates the counters for the share of this process in a budget. The process assumes that each other process lets in as many calls as this
 * process. So if there are three processes, each call of this process is counted three times. A call is let in only if two counters allow
 * it:
 *
 * - `known` continues from the last count of Redis that this process saw. This count includes the calls to all processes. When the window
 *   of Redis ends, `known` begins at zero again.
 * - `own` begins at zero when Redis is lost. Its window lasts a whole minute, even if the window of Redis ends earlier. So the process lets
 *   in at most one share in the first minute after the loss. With only `known`, it could let in calls of two windows in this minute.
 */
function createShare(limit: number, windowMs: number) {
  const known = createCounter(windowMs);
  /** Counters `own`, by hash slot of Redis. Each of them counts the calls of this process since Redis failed for this slot. */
  const ownBySlot = new Map<number, Counter>();
  /**
   * Converts the count of `known` or `own` into the count that `take` and `look` return. In the result, `limit - count` is the number of
   * calls that this process may still let in. For example, the limit is 60, the counter is at 40, and there are two processes. Each call of
   * this process raises the counter by 2, so 10 more calls are possible. The result is then 50, which is 60 minus these 10 calls. A count
   * above `limit` is returned unchanged, so that the call is refused.
   * @param calls number by which each call of this process raises the counter
   */
  const inShare = ({ count, msLeft }: Taken, calls: number): Taken => ({
    count: count > limit ? count : limit - Math.floor((limit - count) / calls),
    msLeft,
  });
  // A call raises a counter by the number of processes, but by at most `limit`. Without this maximum, no call would be let in if a budget
  // has fewer calls than there are processes.
  const callsOf = (nodes: number) => Math.min(nodes, limit);
  return {
    /**
     * Copies the window that Redis has for a key into `known`. Removes the counter `own` of the slot, because `own` is only needed after a
     * failure of Redis.
     */
    follow(slot: number, key: string, taken: Taken): void {
      ownBySlot.delete(slot);
      known.set(key, taken);
    },
    /**
     * Counts one call of this process against its share of the budget. If the call is let in, `limit - count` of the result is the number
     * of calls that this process may still let in.
     */
    take(slot: number, key: string, nodes: number): Taken {
      const own = ownBySlot.get(slot) ?? createCounter(windowMs);
      ownBySlot.set(slot, own);
      const calls = callsOf(nodes);
      const first = known.take(key, calls);
      if (first.count > limit) {
        return first;
      }
      const second = own.take(key, calls);
      return inShare(second.count > first.count ? second : first, calls);
    },
    /** Returns `count` and `msLeft` like `take`, but counts no call. */
    look(slot: number, key: string, nodes: number): Taken {
      const first = known.look(key);
      const second = ownBySlot.get(slot)?.look(key) ?? first;
      return inShare(second.count > first.count ? second : first, callsOf(nodes));
    },
  };
}

/** Key in Redis that counts the calls against a budget, and the hash slot of this key. */
interface KeyInRedis {
  key: string;
  slot: number;
}

/** Returns the Redis key that counts the calls of one credential or user against a budget. */
function budgetKey({ slots, slotOf }: RedisServers, name: string, ofBudget: string): KeyInRedis {
  // In a cluster, only the part in braces decides the slot of a key. So all budgets of one credential are in the same slot.
  const key = slots === 1 ? `roomservice:${name}:${ofBudget}` : `roomservice:${name}:{${ofBudget}}`;
  return { key, slot: slotOf(key) };
}

type Presence = ReturnType<typeof createPresence>;

/**
 * Creates the functions that announce this process in Redis and count the announced processes. An announcement ends after
 * `announcementMs`, unless the process calls `announce` again before.
 */
function createPresence(announcementMs: number, shareMs: number) {
  const id = randomUUID();
  let nodes = 1;
  const runOnEach = async (link: RedisLink, text: string, values: string[]) => {
    const keys = presenceKeys(link.servers);
    return await Promise.all(keys.map(async ({ key, slot }) => await link.run(slot, { text, key, values })));
  };
  return {
    async announce(link: RedisLink): Promise<void> {
      const counts = (await runOnEach(link, ANNOUNCE, [id, String(announcementMs)])) as (number | null)[];
      // For some time after a failure, the number of processes may only rise. A Redis server may have lost its data, and then it counts
      // only the processes that have announced themselves since. If the number were too small, this process would let in too many calls.
      const atLeast = link.losses.msSinceAnyFailure() < shareMs ? nodes : 1;
      nodes = Math.max(atLeast, ...counts.map((count) => count ?? 1));
    },
    async withdraw(link: RedisLink): Promise<void> {
      await runOnEach(link, WITHDRAW, [id]);
    },
    /** Returns the number of processes that were last seen in Redis, including this process. */
    countNodes: () => nodes,
  };
}

/**
 * Returns the keys under which the processes announce themselves. A cluster has one key on each server, so that the processes still see
 * each other if some servers are lost. All processes choose the same keys.
 */
export function presenceKeys({ slots, slotOf, areTogether }: RedisServers): KeyInRedis[] {
  if (slots === 1) {
    return [{ key: NODES, slot: 0 }];
  }
  const keys: KeyInRedis[] = [];
  for (let number = 0; number < PRESENCE_KEYS; number += 1) {
    const key = `${NODES}:{${number}}`;
    const slot = slotOf(key);
    if (!keys.some((other) => areTogether(other.slot, slot))) {
      keys.push({ key, slot });
    }
  }
  return keys;
}
