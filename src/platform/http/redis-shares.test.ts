import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createRedis, findRedis, type Redis } from '#test/support/redis.ts';
import { waitUntilNodesCounted } from '#test/support/redis-nodes.ts';
import type { Budget } from './rate-limit.ts';
import { createRedisBudgets, type RedisBudgets } from './redis-budgets.ts';

const SILENT = pino({ level: 'silent' });
const LIMIT = 60;
/**
 * Overrides the default times of budgets in Redis, so that the nodes soon know each other and find Redis again. An announcement lasts a
 * minute, so that a busy machine does not make the nodes forget each other.
 */
const TIMES = { announceEveryMs: 200, announcementMs: 60_000, reconnectEveryMs: 100 };

const program = findRedis();
const skip = program === undefined && 'there is no redis-server on PATH';

/** Two nodes that share the budgets in one Redis. Each test has a new Redis and new nodes. */
function withTwoNodes(lengths: { windowMs: number; shareMs: number }) {
  let redis: Redis;
  let stores: RedisBudgets[];
  let nodes: Budget[];
  beforeEach(async () => {
    redis = await createRedis(program ?? '');
    await redis.start();
    const times = { ...TIMES, ...lengths };
    stores = [await createRedisBudgets(redis.url, SILENT, times), await createRedisBudgets(redis.url, SILENT, times)];
    nodes = stores.map((store) => store.budget('test', LIMIT));
    await waitUntilNodesCounted(stores);
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await redis.close();
  });
  return {
    get redis() {
      return redis;
    },
    get stores() {
      return stores;
    },
    /** Counts a call to the node in the budget with the name `test`. Returns the count of the node. */
    async take(node: number): Promise<number> {
      return (await nodes[node]?.take('key'))?.count ?? 0;
    },
  };
}

describe('the budget of a key over the loss and the return of Redis, with windows of one second', { skip }, () => {
  const WINDOW_MS = 1_000;
  const SHARE_MS = WINDOW_MS + 700;
  /**
   * Length in milliseconds of the period in which a test counts calls. It is slightly shorter than a window, because Redis measures time in
   * whole milliseconds.
   */
  const SEEN_WINDOW_MS = WINDOW_MS - 20;
  const two = withTwoNodes({ windowMs: WINDOW_MS, shareMs: SHARE_MS });

  /** Start and end of each call that was let in, in milliseconds. The call was counted at an unknown time between them. */
  let letIn: { startMs: number; endMs: number }[];
  beforeEach(() => {
    letIn = [];
  });

  /** Makes `count` calls with one key. The calls go in turn to the nodes whose indices are in `numbers`. */
  async function call(numbers: number[], count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) {
      const startMs = performance.now();
      const counted = await two.take(numbers[made % numbers.length] ?? 0);
      if (counted <= LIMIT) {
        letIn.push({ startMs, endMs: performance.now() });
      }
    }
  }

  /** Makes calls to both nodes in turn until `isOver` returns true, with a pause of 5 ms after each 20 calls. */
  async function callUntil(isOver: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 60_000; !isOver(); await sleep(5)) {
      assert.ok(Date.now() < deadline, 'the calls took too long');
      await call([0, 1], 20);
    }
  }

  /** Makes calls to both nodes in turn until `work` has ended. */
  async function callDuring(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    void work.finally(() => (isOver = true));
    await callUntil(() => isOver);
    await work;
  }

  /** Returns the number of calls that were certainly let in within `SEEN_WINDOW_MS` after `fromMs`. */
  function letInFrom(fromMs: number): number {
    return letIn.filter(({ startMs, endMs }) => startMs >= fromMs && endMs < fromMs + SEEN_WINDOW_MS).length;
  }

  /** Returns the largest number of calls that were certainly let in within any period of the length `SEEN_WINDOW_MS`. */
  function mostLetIn(): number {
    return Math.max(...letIn.map(({ startMs }) => letInFrom(startMs)));
  }

  it('while Redis is lost, both nodes together accept at most the budget in the first second, and at most twice the budget in any other second', async () => {
    await callDuring(sleep(1.5 * WINDOW_MS));
    await two.redis.kill();
    const lostAtMs = performance.now();
    const countDuringLoss = () => letIn.filter(({ startMs }) => startMs >= lostAtMs).length;
    await callUntil(() => countDuringLoss() >= 3 * LIMIT);
    const lossMs = performance.now() - lostAtMs;
    await callDuring(two.redis.start());
    await callDuring(sleep(SHARE_MS + WINDOW_MS));

    assert.ok(letInFrom(lostAtMs) <= LIMIT, `${letInFrom(lostAtMs)} calls in the first window after the loss`);
    assert.ok(lossMs >= 2 * SEEN_WINDOW_MS, `${3 * LIMIT} calls in ${lossMs} ms`);
    assert.ok(mostLetIn() <= 2 * LIMIT, `${mostLetIn()} calls in a window`);
  });

  it('if one node has accepted almost all calls of a budget before a short loss of Redis, both nodes together accept at most twice the budget in any window', async () => {
    await call([1], 1);
    await sleep(WINDOW_MS / 2);
    await call([0], LIMIT - 1);
    await two.redis.kill();
    const lostAtMs = performance.now();
    await callDuring(sleep(WINDOW_MS / 4));
    await callDuring(two.redis.start());
    await callDuring(sleep(SHARE_MS + WINDOW_MS));
    assert.ok(mostLetIn() <= 2 * LIMIT, `${mostLetIn()} calls in a window`);
    assert.ok(letInFrom(lostAtMs) <= LIMIT, `${letInFrom(lostAtMs)} calls in the first window after the loss`);
  });
});

describe('the shares of two nodes in a budget while Redis is lost', { skip }, () => {
  const two = withTwoNodes({ windowMs: 60_000, shareMs: 65_000 });

  it('if Redis is lost, each of two nodes may accept half of the calls that were left in the budget', async () => {
    for (let made = 0; made < 20; made += 1) {
      await two.take(made % 2);
    }
    await two.redis.kill();
    const counts = [await two.take(0), await two.take(1), await two.take(0)];
    // `take` returns the limit (60 calls) minus the number of calls that the node may still let in. Redis has counted 20 calls, which went
    // to the two nodes in turn. Each node knows the count after its last call:
    // - The first node knows of 19 calls, so 41 calls are left for both nodes. Its half is 20 calls (rounded down). After its first call
    //   without Redis, it may let in 19 more calls (`counts[0]`). After its second call, it may let in 18 more (`counts[2]`).
    // - The second node knows of 20 calls, so 40 calls are left for both nodes. Its half is 20 calls. After its call without Redis, it may
    //   let in 19 more calls (`counts[1]`).
    assert.deepEqual(counts, [LIMIT - 19, LIMIT - 19, LIMIT - 18]);
  });

  it('if there are more nodes than calls in a budget, each node lets in one call while Redis is lost', async () => {
    const small = two.stores.map((store) => store.budget('small', 1));
    await two.redis.kill();
    for (const budget of small) {
      assert.deepEqual([(await budget.take('key')).count, (await budget.take('key')).count <= 1], [1, false]);
    }
  });

  it('a node that was closed has no share, so the other node gets the whole budget when Redis is lost', async () => {
    await two.stores.pop()?.close();
    await waitUntilNodesCounted(two.stores);
    await two.redis.kill();
    assert.equal(await two.take(0), 1);
  });
});
