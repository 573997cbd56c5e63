import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createClient } from 'redis';
import { countByStatus } from '#test/support/answers.ts';
import type { Answer } from '#test/support/http.ts';
import { createRedis, findRedis, type Redis } from '#test/support/redis.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { RedisBudgets } from './redis-budgets.ts';

const ORDERS = '/v1/third-party/orders/';
const LOST = 'Redis cannot be used, so this process counts the budgets in its own memory until Redis is back';
const BACK = 'Redis is back: the processes share the budgets again';

const SILENT = pino({ level: 'silent' });
/**
 * Overrides the default times of budgets in Redis, so that the processes share the budgets again soon after Redis is back. An announcement
 * lasts a minute, so that a busy machine does not make the nodes forget each other.
 */
const TIMES = { announceEveryMs: 250, announcementMs: 60_000, shareMs: 500, retryMs: 100 };

const program = findRedis();
const skip = program === undefined && 'there is no redis-server on PATH';

/** Waits until each of the nodes knows how many nodes share the budgets in Redis. The nodes are all nodes that use this Redis. */
async function waitUntilNodesCounted(nodes: RedisBudgets[]): Promise<void> {
  const areCounted = () => nodes.every((node) => node.processes === nodes.length);
  await eventually(areCounted, `count of ${nodes.length} nodes on each node`, 60_000);
}

async function startRedis(t: TestContext): Promise<Redis> {
  const redis = await createRedis(program ?? '');
  t.after(() => redis.close());
  await redis.start();
  return redis;
}

describe('budgets of calls in Redis, shared by two nodes of the service', { skip }, () => {
  let redis: Redis;
  let first: TestService;
  let second: TestService;
  let tenant: Awaited<ReturnType<TestService['tenant']>>;
  let stores: RedisBudgets[];
  const messages: string[] = [];
  before(async () => {
    redis = await createRedis(program ?? '');
    await redis.start();
    const log = pino({}, { write: (line) => void messages.push((JSON.parse(line) as { msg: string }).msg) });
    const open = async () => await RedisBudgets.open(redis.url, log, TIMES);
    const budgets = [await open(), await open()] as const;
    first = await startService({ budgets: budgets[0] });
    second = await startService({ beside: first, budgets: budgets[1] });
    stores = [...budgets];
    tenant = await first.tenant();
    await waitUntilShared();
  });
  beforeEach(() => {
    messages.length = 0;
  });
  after(async () => {
    redis.thaw();
    await second.close();
    await first.close();
    await redis.close();
  });

  const newCaller = async () => (await first.credential(tenant.tenantId)).partner;

  async function remaining(node: TestService, headers: Record<string, string>): Promise<number> {
    const answer = await node.call('GET', ORDERS, { headers });
    assert.equal(answer.status, 200, answer.text);
    return Number(answer.headers.get('x-ratelimit-remaining'));
  }

  async function look(node: TestService) {
    const { credential, owner } = tenant;
    const answer = await node.call('GET', `/v1/staff/credentials/${credential.id}/`, { headers: owner });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.budget;
  }

  /** Returns the remaining calls of a new credential after a call to each node and a third one to the first node. */
  async function remainingOfNewCaller(): Promise<number[]> {
    const headers = await newCaller();
    return [await remaining(first, headers), await remaining(second, headers), await remaining(first, headers)];
  }

  /** Waits until Redis counts the calls to both nodes of the service together, and each node knows that there are two nodes. */
  async function waitUntilShared(): Promise<void> {
    for (const deadline = Date.now() + 15_000; Date.now() < deadline; await sleep(50)) {
      if ((await remainingOfNewCaller()).join() === '299,298,297') {
        return await waitUntilNodesCounted(stores);
      }
    }
    assert.fail('the nodes do not share their budgets');
  }

  async function waitForMessages(expected: string[]): Promise<void> {
    for (const deadline = Date.now() + 15_000; messages.length < expected.length && Date.now() < deadline; ) {
      await remainingOfNewCaller();
      await sleep(20);
    }
    assert.deepEqual(messages, expected);
  }

  it('429: two nodes that share Redis get 340 calls, and exactly 300 are accepted', async () => {
    const headers = await newCaller();
    const answers: Answer[] = [];
    while (answers.length < 340) {
      // So few calls at a time that the service refuses none for being busy.
      const batch = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second));
      answers.push(...(await Promise.all(batch.map((node) => node.call('GET', ORDERS, { headers })))));
    }
    assert.deepEqual(countByStatus(answers), { 200: 300, 429: 40 });
    const refused = await second.call('GET', ORDERS, { headers });
    assert.equal(refused.headers.get('x-ratelimit-limit'), '300');
    assert.equal(refused.headers.get('x-ratelimit-remaining'), '0');
    assert.equal(refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-reset'));
    assert.ok(Number(refused.headers.get('retry-after')) <= 60);
  });

  it('200: reading a budget counts no call, and "used" counts the calls to both nodes or, while Redis is down, is 300 minus the remaining calls of the queried node', async () => {
    tenant = await first.tenant();
    await waitUntilShared();
    assert.deepEqual(await look(second), { limit: 300, used: 0, resets_in_s: 0, is_shared: true });
    for (const node of [first, second, first]) {
      await remaining(node, tenant.partner);
    }
    const { resets_in_s: resets, ...seen } = await look(second);
    assert.deepEqual(seen, { limit: 300, used: 3, is_shared: true });
    assert.ok(resets > 50 && resets <= 60, String(resets));
    assert.equal(await remaining(first, tenant.partner), 296);
    await redis.kill();
    assert.equal(await remaining(first, tenant.partner), 149);
    const { used, is_shared: isShared } = await look(first);
    assert.deepEqual([used, isShared], [151, false]);
    assert.equal(await remaining(first, tenant.partner), 148);
    await redis.start();
    await waitUntilShared();
  });

  const faults: [string, strike: () => Promise<unknown>, heal: () => Promise<unknown>][] = [
    ['is killed', () => redis.kill(), () => redis.start()],
    ['hangs', async () => redis.freeze(), async () => redis.thaw()],
    ['has no memory left', () => setMaxMemory('1'), () => setMaxMemory('0')],
  ];
  for (const [fault, strike, heal] of faults) {
    it(`while Redis ${fault}, each node counts its half of the budget in its own memory, and logs the loss and the return of Redis once`, async () => {
      await strike();
      try {
        assert.deepEqual(await remainingOfNewCaller(), [149, 149, 148]);
        await waitForMessages([LOST, LOST]);
        // Neither an announcement nor a look at a budget, which only reads, may take a lost Redis for one that is back.
        for (const end = Date.now() + 3 * TIMES.announceEveryMs; Date.now() < end; await sleep(20)) {
          await look(first);
        }
        assert.deepEqual(messages, [LOST, LOST]);
      } finally {
        await heal();
      }
      await waitUntilShared();
      await waitForMessages([LOST, LOST, BACK, BACK]);
    });
  }

  /** Sets how much memory Redis may use. With one byte, it refuses each command that writes. */
  async function setMaxMemory(bytes: string): Promise<void> {
    const operator = createClient({ url: redis.url });
    await operator.connect();
    await operator.configSet('maxmemory', bytes);
    operator.destroy();
  }

  it('while Redis hangs, the next ten calls after the first timeout do not wait for it one by one', async (t) => {
    const budgets = await RedisBudgets.open(redis.url, SILENT, { ...TIMES, retryMs: 60_000, commandMs: 1_000 });
    t.after(() => budgets.close());
    const { take } = budgets.budget('test', 10);
    redis.freeze();
    t.after(() => redis.thaw());
    await take('key');
    const begin = performance.now();
    for (let sent = 0; sent < 10; sent += 1) {
      await take('key');
    }
    assert.ok(performance.now() - begin < 1_000, `${performance.now() - begin} ms for ten calls`);
  });
});

describe('a process that starts with budgets in Redis', { skip }, () => {
  it('when a process has just started, its first call is already counted in Redis, not in the memory of the process', async (t) => {
    const redis = await startRedis(t);
    for (let started = 1; started <= 3; started += 1) {
      const budgets = await RedisBudgets.open(redis.url, SILENT, { ...TIMES, commandMs: 15_000 });
      const { count } = await budgets.budget('test', 10).take('a caller of three nodes that start');
      await budgets.close();
      assert.equal(count, started);
    }
  });

  it('if Redis starts after two processes, they count in memory at first, and then share the budgets in Redis', async (t) => {
    const redis = await createRedis(program ?? '');
    t.after(() => redis.close());
    const stores = [
      await RedisBudgets.open(redis.url, SILENT, TIMES),
      await RedisBudgets.open(redis.url, SILENT, TIMES),
    ];
    t.after(async () => await Promise.all(stores.map((store) => store.close())));
    const take = async (key: string) =>
      await Promise.all(stores.map(async (store) => (await store.budget('test', 10).take(key)).count));
    assert.deepEqual(await take('before'), [1, 1]);
    await redis.start();
    let seen: number[] = [];
    for (let tries = 0; seen.toSorted((a, b) => a - b).join() !== '1,2'; tries += 1, await sleep(50)) {
      assert.ok(tries < 300, `${seen.join()} calls were counted`);
      seen = await take(`after ${tries}`);
    }
  });
});

const LIMIT = 60;

async function startTwoNodes(t: TestContext, times: { windowMs: number; shareMs: number }) {
  const redis = await startRedis(t);
  const open = async () => await RedisBudgets.open(redis.url, SILENT, { ...TIMES, announceEveryMs: 200, ...times });
  const stores = [await open(), await open()];
  t.after(async () => await Promise.all(stores.map((store) => store.close())));
  const nodes = stores.map((store) => store.budget('test', LIMIT));
  await waitUntilNodesCounted(stores);
  return { redis, stores, nodes };
}

describe('the budget of a key over the loss and the return of Redis, with windows of one second', { skip }, () => {
  const WINDOW_MS = 1_000;
  const SHARE_MS = WINDOW_MS + 700;
  /** Period in which a test counts calls. It is slightly shorter than a window, because Redis measures time in whole milliseconds. */
  const SEEN_WINDOW_MS = WINDOW_MS - 20;

  for (const lossMs of [WINDOW_MS / 4, 2.5 * WINDOW_MS]) {
    it(`if Redis is lost for ${lossMs} ms and comes back empty, both nodes accept at most the budget in the first second, and at most twice the budget in any other second`, async (t) => {
      const { redis, nodes } = await startTwoNodes(t, { windowMs: WINDOW_MS, shareMs: SHARE_MS });
      /** Start and end of each call that was let in. The call was counted at an unknown time between them. */
      const letIn: { startMs: number; endMs: number }[] = [];
      /** Makes calls to both nodes in turn until `work` has ended, with a pause of 5 ms after each 20 calls. */
      const callDuring = async (work: Promise<unknown>) => {
        let isOver = false;
        void work.finally(() => (isOver = true));
        for (; !isOver; await sleep(5)) {
          for (let made = 0; made < 20; made += 1) {
            const startMs = performance.now();
            const taken = await nodes[made % 2]?.take('key');
            if (taken !== undefined && taken.count <= LIMIT) {
              letIn.push({ startMs, endMs: performance.now() });
            }
          }
        }
        await work;
      };
      /** Returns the number of calls that were certainly let in within `SEEN_WINDOW_MS` after `fromMs`. */
      const letInFrom = (fromMs: number) =>
        letIn.filter(({ startMs, endMs }) => startMs >= fromMs && endMs < fromMs + SEEN_WINDOW_MS).length;

      await callDuring(sleep(1.5 * WINDOW_MS));
      await redis.kill();
      const lostAtMs = performance.now();
      await callDuring(sleep(lossMs));
      await callDuring(redis.start());
      await callDuring(sleep(SHARE_MS + WINDOW_MS));

      assert.ok(letInFrom(lostAtMs) > 0 && letInFrom(lostAtMs) <= LIMIT, `${letInFrom(lostAtMs)} calls after the loss`);
      const most = Math.max(...letIn.map(({ startMs }) => letInFrom(startMs)));
      assert.ok(most <= 2 * LIMIT, `${most} calls in a window`);
    });
  }

  it('if there are more nodes than calls in a budget, each node lets in one call while Redis is lost', async (t) => {
    const { redis, stores } = await startTwoNodes(t, { windowMs: 60_000, shareMs: 65_000 });
    await redis.kill();
    for (const budget of stores.map((store) => store.budget('small', 1))) {
      assert.deepEqual([(await budget.take('key')).count, (await budget.take('key')).count <= 1], [1, false]);
    }
  });
});
