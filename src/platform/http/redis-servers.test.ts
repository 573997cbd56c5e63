import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createClient } from 'redis';
import { countByStatus } from '#test/support/answers.ts';
import { findRedis } from '#test/support/redis.ts';
import { type RedisGroup, startRedisCluster, startRedisSentinels } from '#test/support/redis-groups.ts';
import { listOrdersAlternately, waitUntilNodesCounted } from '#test/support/redis-nodes.ts';
import { startService } from '#test/support/service.ts';
import type { Budget } from './rate-limit.ts';
import { createRedisBudgets, type RedisBudgets } from './redis-budgets.ts';
import { clusterSlotOf } from './redis-servers.ts';

const SILENT = pino({ level: 'silent' });
/** The nodes announce themselves often, but are counted for a minute, so that a busy machine does not make them forget each other. */
const TIMES = { announceEveryMs: 400, announcementMs: 60_000, shareMs: 500, reconnectEveryMs: 100 };
const LIMIT = 10;
const NODES = 2;
/**
 * Maximum time of one call of `Budget.take` in milliseconds. It is the time limit of a Redis command (0.5 s), and additional time for a busy
 * machine. Without this time limit, a call to a frozen server takes 12 s, because then the client closes the connection.
 */
const LONGEST_TAKE_MS = 10_000;
/**
 * Longer time limit of a Redis command in milliseconds, for tests in which a healthy server must not seem lost. On a busy machine, a healthy
 * server may take longer than 0.5 s to respond.
 */
const LONG_COMMAND_MS = 3_000;
const DEADLINE_MS = 60_000;
/** Keys whose hash slots are spread over all servers of a cluster. */
const KEYS = Array.from({ length: 60 }, (_, index) => `key-${index}`);

const program = findRedis();
const skip = program === undefined && 'there is no redis-server on PATH';

/** Two nodes of the service that share the budgets in one Redis. */
class TwoNodes implements AsyncDisposable {
  readonly stores: RedisBudgets[];
  /** Longest time that a call of `Budget.take` took, in milliseconds. */
  longestMs = 0;

  private constructor(stores: RedisBudgets[]) {
    this.stores = stores;
  }

  static async open(url: string, { log = SILENT, commandMs = 500 } = {}): Promise<TwoNodes> {
    const times = { ...TIMES, commandMs };
    const stores = [await createRedisBudgets(url, log, times), await createRedisBudgets(url, log, times)];
    const nodes = new TwoNodes(stores);
    await nodes.untilShared(KEYS);
    await waitUntilNodesCounted(nodes.stores);
    return nodes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.stores.map((store) => store.close()));
  }

  /** Creates a budget with a new name, so it has no calls yet. Returns one object for each node. Both objects count in the same budget. */
  newBudgets(): Budget[] {
    const name = randomUUID();
    return this.stores.map((store) => store.budget(name, LIMIT));
  }

  /**
   * Makes more calls with each key than a budget allows, alternately to both nodes. Returns the number of calls that were let in for each
   * key.
   */
  async letIn(keys: string[]): Promise<number[]> {
    const budgets = this.newBudgets();
    return await Promise.all(
      keys.map(async (key) => {
        let letIn = 0;
        for (let made = 0; made < NODES * (LIMIT + 2); made += 1) {
          const begin = performance.now();
          const taken = await budgets[made % NODES]?.take(key);
          this.longestMs = Math.max(this.longestMs, performance.now() - begin);
          letIn += taken !== undefined && taken.count <= LIMIT ? 1 : 0;
        }
        return letIn;
      }),
    );
  }

  /** Waits until, for each key, Redis counts the calls to both nodes of the service together. */
  async untilShared(keys: string[]): Promise<void> {
    for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(100)) {
      const budgets = this.newBudgets();
      const counts = await Promise.all(
        keys.map(async (key) => [(await budgets[0]?.take(key))?.count, (await budgets[1]?.take(key))?.count].join()),
      );
      if (counts.every((count) => count === '1,2')) {
        return;
      }
    }
    assert.fail('the nodes do not share their budgets');
  }
}

/**
 * Redis servers to test, and the number of credentials that call the service. The cluster is tested with several credentials, because
 * different primaries count the calls of different credentials.
 */
const SETUPS = [
  { name: 'a Redis Cluster of three primaries', start: (name: string) => startRedisCluster(name), credentials: 4 },
  { name: 'a Redis with Sentinels', start: startRedisSentinels, credentials: 1 },
];

for (const { name, start, credentials } of SETUPS) {
  describe(`budgets of calls in ${name}, shared by two nodes of the service`, { skip }, () => {
    it(`429: of 340 calls of a credential, half to each node, exactly 300 are accepted (tested credentials: ${credentials})`, async () => {
      const group = await start(program ?? '');
      const times = { commandMs: LONG_COMMAND_MS };
      const first = await startService({ budgets: await createRedisBudgets(group.url, SILENT, times) });
      const second = await startService({ beside: first, budgets: await createRedisBudgets(group.url, SILENT, times) });
      try {
        const { tenantId } = await first.tenant();
        for (let credential = 0; credential < credentials; credential += 1) {
          const { partner: headers } = await first.credential(tenantId);
          const answers = await listOrdersAlternately([first, second], headers, 340);
          assert.deepEqual(countByStatus(answers), { 200: 300, 429: 40 });
        }
      } finally {
        await second.close();
        await first.close();
        await group.close();
      }
    });
  });
}

describe('a Redis Cluster of three primaries, of which one is lost', { skip }, () => {
  let cluster: RedisGroup;
  before(async () => {
    cluster = await startRedisCluster(program ?? '');
  });
  after(async () => await cluster.close());

  /** Keys whose slot is on the first primary, which is lost. `otherKeys` has the keys of the other primaries. */
  const lostKeys = KEYS.filter((key) => clusterSlotOf(key) < 16_384 / 3 - 1);
  const otherKeys = KEYS.filter((key) => clusterSlotOf(key) > 16_384 / 3 + 1);

  it('clusterSlotOf returns the same slots as Redis, also for keys with braces', async () => {
    const client = createClient({ url: cluster.primaries[0]?.url ?? '' });
    await client.connect();
    const keys = ['', 'key', 'a{b}c', 'a{}b{c}', '{', '}', 'a}b{c}d', 'a{b{c}d}e', 'ü{é}', '123456789'];
    const slots = await Promise.all(keys.map((key) => client.clusterKeySlot(key)));
    client.destroy();
    assert.deepEqual(keys.map(clusterSlotOf), slots);
  });

  for (const fault of ['killed', 'frozen'] as const) {
    it(`while a primary without a replica is ${fault}, each node allows half of each budget that this primary counted, and the nodes still share all other budgets`, async () => {
      const messages: string[] = [];
      const log = pino({}, { write: (line) => void messages.push((JSON.parse(line) as { msg: string }).msg) });
      await using nodes = await TwoNodes.open(cluster.url, { log, commandMs: LONG_COMMAND_MS });
      const [primary] = cluster.primaries;
      await (fault === 'killed' ? primary?.kill() : primary?.freeze());
      try {
        const [lost, others] = await Promise.all([nodes.letIn(lostKeys), nodes.letIn(otherKeys)]);
        assert.ok(
          [...lost, ...others].every((count) => count === LIMIT),
          `${lost.join()} and ${others.join()}`,
        );
        // The other primaries are not lost. So Redis still counts the calls to both nodes together for these keys.
        await nodes.untilShared(otherKeys);
        const budget = nodes.newBudgets()[0];
        const count = async (key: string) => (await budget?.take(key))?.count;
        const afterTwo = async (key: string) => [await count(key), await count(key)].join();
        for (const key of otherKeys) {
          assert.equal(await afterTwo(key), '1,2', key);
        }
        let lostCalls = 0;
        for (let made = 0; made < LIMIT; made += 1) {
          lostCalls += ((await count(lostKeys[0] ?? '')) ?? 0) <= LIMIT ? 1 : 0;
        }
        assert.equal(lostCalls, LIMIT / NODES, 'one node lets in its half');
      } finally {
        await (fault === 'killed' ? primary?.start() : primary?.thaw());
      }
      await nodes.untilShared(KEYS);
      // A node logs the return at its first call after one second without a failure.
      for (const deadline = Date.now() + DEADLINE_MS; messages.length < 4 && Date.now() < deadline; await sleep(100)) {
        await nodes.untilShared(KEYS);
      }
      const logged = messages.map((message) => message.split(/[:,]/)[0]?.replace(/\d+ of/, 'N of'));
      const loss = 'A part of Redis (N of 16384 slots) cannot be used';
      assert.deepEqual(logged, [loss, loss, 'Redis is back', 'Redis is back']);
    });
  }
});

const FAILOVERS = [
  { name: 'a Redis Cluster', start: async (name: string) => await startRedisCluster(name, 3, 1) },
  { name: 'a Redis with Sentinels', start: startRedisSentinels },
];

describe('a primary that dies and is replaced by its replica', { skip, concurrency: true }, () => {
  for (const { name, start } of FAILOVERS) {
    for (const fault of ['killed', 'frozen'] as const) {
      it(`if a primary of ${name} is ${fault}, each call ends within 10 s, and the nodes share all budgets again without a restart`, async () => {
        await using cleanup = new AsyncDisposableStack();
        const group = await start(program ?? '');
        cleanup.defer(() => group.close());
        const nodes = cleanup.use(await TwoNodes.open(group.url));
        await (fault === 'killed' ? group.primaries[0]?.kill() : group.primaries[0]?.freeze());
        const letIn = await nodes.letIn(KEYS);
        assert.ok(
          letIn.every((count) => count >= LIMIT && count <= 2 * LIMIT),
          letIn.join(),
        );
        await nodes.untilShared(KEYS);
        assert.ok(nodes.longestMs < LONGEST_TAKE_MS, `${nodes.longestMs} ms`);
      });
    }

    it(`nodes that start while a primary of ${name} is dead share all budgets after the failover`, async () => {
      await using cleanup = new AsyncDisposableStack();
      const group = await start(program ?? '');
      cleanup.defer(() => group.close());
      await group.primaries[0]?.kill();
      cleanup.use(await TwoNodes.open(group.url));
    });
  }
});
