import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type Budget, type BudgetStore, type Counter, createCounter, type Taken, WINDOW_MS } from './rate-limit.ts';
import { RedisLink } from './redis-link.ts';
import type { RedisServers } from './redis-servers.ts';

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
 * Redis script (Lua) that reads a window and counts no call. Returns the number of calls in the window of a key, and the milliseconds until
 * the window ends. Both numbers are zero if the key has no window.
 */
const LOOK = `return {tonumber(redis.call('GET', KEYS[1]) or 0), math.max(0, redis.call('PTTL', KEYS[1]))}`;

/**
 * Redis script (Lua) that announces this process under its id. Returns the number of processes that announced themselves within the
 * lifetime of an announcement. The clock of Redis measures this time, so the clocks of the processes need not agree.
 */
const ANNOUNCE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;
/** Redis script (Lua) that withdraws the announcement of this process. */
const WITHDRAW = `return redis.call('ZREM', KEYS[1], ARGV[1])`;
/** Redis key of the sorted set of all processes that count their calls in this Redis. In a cluster, each server has such a key. */
const NODES = 'roomservice:nodes';
/**
 * Number of keys from which the processes choose one key for each server of a cluster, to announce themselves there. The hash slots of
 * these keys are spread over the servers.
 */
const PRESENCE_KEYS = 64;
/** Number of announcements that a process may miss before the other processes stop counting it. */
const MISSED_ANNOUNCEMENTS = 3;

/** Times in milliseconds. Tests shorten them. */
interface Times {
  windowMs: number;
  /** Time between two announcements of a process. */
  announceEveryMs: number;
  /**
   * Time after a failure of Redis during which a process lets in only its share of each budget, even if Redis counts again. It is longer
   * than a window, because the processes notice at different times that Redis is back. They try to connect every two seconds.
   */
  shareMs: number;
  /** Maximum time between two attempts to connect to a server that is lost. */
  reconnectEveryMs: number;
}

const TIMES: Times = {
  windowMs: WINDOW_MS,
  announceEveryMs: 5_000,
  shareMs: WINDOW_MS + 5_000,
  reconnectEveryMs: 2_000,
};

/**
 * Creates budgets in Redis or Valkey, which are shared by all processes with this URL (its forms: `lib/redis-url.ts`). If Redis cannot be
 * reached, does not respond in time or refuses a command, the process counts in its own memory, and lets in only its share of each budget:
 * the limit divided by the number of processes that it last saw in Redis. It keeps to its share until a window has passed after the last
 * failure. So the processes let in at most twice the budget of a key in a minute, although Redis may have lost its counts
 * (docs/decisions/0016-budgets.md). In a cluster, the process lets in only its share of those budgets whose slot is lost, and the other
 * budgets stay shared. The process logs once that Redis is lost, and logs again when Redis is back. The promise resolves as soon as Redis
 * is connected, or after half a second if Redis is not connected by then.
 * @param url a URL that `parseRedisUrl` accepts
 */
export async function createRedisBudgets(url: string, log: Logger, times: Partial<Times> = {}): Promise<BudgetStore> {
  const { windowMs, announceEveryMs, shareMs, reconnectEveryMs } = { ...TIMES, ...times };
  const presence = createPresence(MISSED_ANNOUNCEMENTS * announceEveryMs, shareMs);
  const link = await RedisLink.open(
    url,
    // A server that comes back may have lost its data. So this process announces itself again immediately, and the other processes soon
    // count it.
    { log, reconnectEveryMs, onFound: (found) => void presence.announce(found) },
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
  /** Returns true if this process lets in only its share of the budgets of the slot, because Redis failed recently. */
  hasFailedLately: (slot: number) => boolean;
}

/** Creates a budget. Redis counts the calls of the budget, or this process counts them if Redis is lost. */
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

/** Runs `work` every `everyMs` milliseconds, unless the previous run is still under way. Returns a function that stops the repetition. */
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
 * Creates the share of this process in a budget. Each call counts as one call of every process, because the process assumes that the other
 * processes let in as many calls as this process. Two counters bound the calls, and a call is let in only if both counters allow it:
 *
 * - `known` continues the window of Redis from the last count that this process saw. So the calls of all processes before the loss of Redis
 *   count, as far as this process knows them.
 * - `own` counts from the loss of the slot. So a process lets in only one share in the first minute after the loss, even if the window of
 *   Redis ends in this minute, or other processes have let in calls that this process does not know.
 */
function createShare(limit: number, windowMs: number) {
  const known = createCounter(windowMs);
  /** Counter `own` of each slot that is lost. */
  const ownBySlot = new Map<number, Counter>();
  /**
   * Returns the window with another count, so that the limit minus this count is the number of calls that this process may still let in.
   */
  const inShare = ({ count, msLeft }: Taken, calls: number): Taken => ({
    count: count > limit ? count : limit - Math.floor((limit - count) / calls),
    msLeft,
  });
  // If there are more processes than calls in the budget, each process lets in one call.
  const callsOf = (nodes: number) => Math.min(nodes, limit);
  return {
    /**
     * Copies the state that the window of a key has in Redis into `known`. Removes the counter `own` of the slot, because the slot is not
     * lost.
     */
    follow(slot: number, key: string, taken: Taken): void {
      ownBySlot.delete(slot);
      known.set(key, taken);
    },
    /** Counts a call against the share, and returns the state of the share (`inShare`). */
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
    /** Returns the state of the share, and counts no call. */
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

/** Returns the key of a budget in Redis. */
function budgetKey({ slots, slotOf }: RedisServers, name: string, ofBudget: string): KeyInRedis {
  // In a cluster, the part of the key in braces decides the slot. So all keys of a credential are in one slot.
  const key = slots === 1 ? `roomservice:${name}:${ofBudget}` : `roomservice:${name}:{${ofBudget}}`;
  return { key, slot: slotOf(key) };
}

type Presence = ReturnType<typeof createPresence>;

/** Creates the announcement of this process in Redis. The announcement ends `lifetimeMs` after the last call of `announce`. */
function createPresence(lifetimeMs: number, shareMs: number) {
  const id = randomUUID();
  let nodes = 1;
  const runOnEach = async (link: RedisLink, text: string, values: string[]) => {
    const keys = presenceKeys(link.servers);
    return await Promise.all(keys.map(async ({ key, slot }) => await link.run(slot, { text, key, values })));
  };
  return {
    async announce(link: RedisLink): Promise<void> {
      const counts = (await runOnEach(link, ANNOUNCE, [id, String(lifetimeMs)])) as (number | null)[];
      // A server that has just come back may not have the announcements of all processes yet. If the known number of processes fell now,
      // the share of each process would be too large.
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
 * Returns the keys under which the processes announce themselves: one key on each server of a cluster, so that the processes still see each
 * other if some servers are lost. All processes choose the same keys.
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
