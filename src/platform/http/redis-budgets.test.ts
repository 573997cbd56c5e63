import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createClient } from 'redis';
import { countByStatus } from '#test/support/answers.ts';
import { createRedis, findRedis, type Redis } from '#test/support/redis.ts';
import { listOrdersAlternately, waitUntilNodesCounted } from '#test/support/redis-nodes.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { createRedisBudgets, type RedisBudgets } from './redis-budgets.ts';

const ORDERS = '/v1/third-party/orders/';
const LOST = 'Redis cannot be used, so this process counts the budgets in its own memory until Redis is back';
const BACK = 'Redis is back: the processes share the budgets again';

const SILENT = pino({ level: 'silent' });
/**
 * Overrides the default times of budgets in Redis, so that the processes share the budgets again soon after Redis is back. An announcement
 * lasts a minute, so that a busy machine does not make the nodes forget each other.
 */
const TIMES = { announceEveryMs: 250, announcementMs: 60_000, shareMs: 500, reconnectEveryMs: 100 };

const program = findRedis();
const skip = program === undefined && 'there is no redis-server on PATH';

describe('budgets of calls in Redis, shared by two nodes of the service', { skip }, () => {
  let redis: Redis;
  let first: TestService;
  let second: TestService;
  let tenantId: number;
  let stores: RedisBudgets[];
  const messages: string[] = [];
  before(async () => {
    redis = await createRedis(program ?? '');
    await redis.start();
    const log = pino({}, { write: (line) => void messages.push((JSON.parse(line) as { msg: string }).msg) });
    const budgets = [
      await createRedisBudgets(redis.url, log, TIMES),
      await createRedisBudgets(redis.url, log, TIMES),
    ] as const;
    first = await startService({ budgets: budgets[0] });
    second = await startService({ beside: first, budgets: budgets[1] });
    stores = [...budgets];
    ({ tenantId } = await first.tenant());
    await waitUntilShared();
  });
  after(async () => {
    redis.thaw();
    await second.close();
    await first.close();
    await redis.close();
  });

  const newCaller = async () => (await first.credential(tenantId)).partner;

  async function remaining(node: TestService, headers: Record<string, string>): Promise<number> {
    const answer = await node.call('GET', ORDERS, { headers });
    assert.equal(answer.status, 200, answer.text);
    return Number(answer.headers.get('x-ratelimit-remaining'));
  }

  /** Waits until Redis counts the calls to both nodes of the service together, and each node knows that there are two nodes. */
  async function waitUntilShared(): Promise<void> {
    await waitUntilCountedTogether();
    await waitUntilNodesCounted(stores);
  }

  async function waitUntilCountedTogether(): Promise<void> {
    for (const deadline = Date.now() + 15_000; Date.now() < deadline; await sleep(50)) {
      const headers = await newCaller();
      const counts = [
        await remaining(first, headers),
        await remaining(second, headers),
        await remaining(first, headers),
      ];
      if (counts.join() === '299,298,297') return;
    }
    assert.fail('the nodes do not share their budgets');
  }

  async function waitForMessages(expected: string[]): Promise<void> {
    for (const deadline = Date.now() + 15_000; messages.length < expected.length && Date.now() < deadline; ) {
      const headers = await newCaller();
      await Promise.all([first, second].map((node) => remaining(node, headers)));
      await sleep(20);
    }
    assert.deepEqual(messages, expected);
  }

  /**
   * Connects a client with which a test can fill and empty the memory of Redis. At the end of the test, the memory is empty and the client is
   * closed.
   */
  async function openOperator(t: TestContext) {
    const operator = createClient({ url: redis.url });
    await operator.connect();
    t.after(async () => {
      await operator.configSet('maxmemory', '0');
      operator.destroy();
    });
    return operator;
  }

  it('when a process has just started, its first call is already counted in Redis, not in the memory of the process', async () => {
    for (let started = 1; started <= 3; started += 1) {
      const budgets = await createRedisBudgets(redis.url, SILENT, { ...TIMES, commandMs: 15_000 });
      const { count } = await budgets.budget('test', 10).take('a caller of three nodes that start');
      await budgets.close();
      assert.equal(count, started);
    }
  });

  it('429: two nodes that share Redis get 340 calls, and exactly 300 are accepted', async () => {
    const headers = await newCaller();
    const answers = await listOrdersAlternately([first, second], headers, 340);
    assert.deepEqual(countByStatus(answers), { 200: 300, 429: 40 });
    const refused = await second.call('GET', ORDERS, { headers });
    assert.equal(refused.headers.get('x-ratelimit-limit'), '300');
    assert.equal(refused.headers.get('x-ratelimit-remaining'), '0');
    assert.equal(refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-reset'));
    assert.ok(Number(refused.headers.get('retry-after')) <= 60);
  });

  it('200: reading a budget counts no call, and "used" counts the calls to both nodes or, while Redis is down, is 300 minus the remaining calls of the queried node', async () => {
    const tenant = await first.tenant();
    const { partner } = tenant;
    const look = async (node: TestService) => {
      const path = `/v1/staff/credentials/${tenant.credential.id}/`;
      return (await node.call('GET', path, { headers: tenant.owner })).body.budget;
    };
    await waitUntilShared();
    assert.deepEqual(await look(second), { limit: 300, used: 0, resets_in_s: 0, is_shared: true });
    for (const node of [first, second, first]) {
      await remaining(node, partner);
    }
    const { resets_in_s: resets, ...seen } = await look(second);
    assert.deepEqual(seen, { limit: 300, used: 3, is_shared: true });
    assert.ok(resets > 50 && resets <= 60, String(resets));
    assert.equal(await remaining(first, partner), 296);
    messages.length = 0;
    await redis.kill();
    // 296 calls are left in the budget. Redis is lost, so each node may let in half of them, which is 148. This call is the first of these,
    // so 147 calls remain.
    assert.equal(await remaining(first, partner), 147);
    const lost = await look(first);
    assert.deepEqual([lost.used, lost.is_shared], [153, false]);
    assert.equal(await remaining(first, partner), 146);
    await redis.start();
    await waitUntilShared();
    await waitForMessages([LOST, LOST, BACK, BACK]);
  });

  it('if Redis is killed, each node counts its half of the budget in its own memory until Redis is back, and logs the loss and the return once', async () => {
    messages.length = 0;
    await redis.kill();
    const headers = await newCaller();
    const counts = [await remaining(first, headers), await remaining(second, headers), await remaining(first, headers)];
    assert.deepEqual(counts, [149, 149, 148]);
    await waitForMessages([LOST, LOST]);
    await redis.start();
    await waitUntilShared();
    await waitForMessages([LOST, LOST, BACK, BACK]);
  });

  it('while Redis hangs, 20 calls to two nodes get responses within 5 s, and afterwards the nodes share budgets again', {
    timeout: 30_000,
  }, async (t) => {
    messages.length = 0;
    redis.freeze();
    t.after(() => redis.thaw());
    const headers = await newCaller();
    const begin = performance.now();
    await Promise.all([first, second].flatMap((node) => Array.from({ length: 10 }, () => remaining(node, headers))));
    assert.ok(performance.now() - begin < 5_000, 'the calls under way when Redis froze get responses soon');
    const count = await remaining(first, headers);
    assert.equal(count, 139, 'the node counts in its own memory while Redis is frozen');
    await waitForMessages([LOST, LOST]);
    redis.thaw();
    await waitUntilShared();
    await waitForMessages([LOST, LOST, BACK, BACK]);
  });

  it('while the memory of Redis is full, each node counts its half of the budget in its own memory, and logs the loss and the return of Redis once', async (t) => {
    messages.length = 0;
    const operator = await openOperator(t);
    await operator.configSet('maxmemory', '1');
    const headers = await newCaller();
    const counts = [await remaining(first, headers), await remaining(second, headers), await remaining(first, headers)];
    assert.deepEqual(counts, [149, 149, 148]);
    await waitForMessages([LOST, LOST]);
    await operator.configSet('maxmemory', '0');
    await waitUntilShared();
    await waitForMessages([LOST, LOST, BACK, BACK]);
  });

  it('if Redis alternately refuses and accepts commands, a node logs at most one loss and one return of Redis per second', async (t) => {
    messages.length = 0;
    const operator = await openOperator(t);
    const headers = await newCaller();
    const begin = performance.now();
    for (let time = 0; time < 20; time += 1) {
      await operator.configSet('maxmemory', time % 2 === 0 ? '1' : '0');
      await Promise.all([first, second].map((node) => remaining(node, headers)));
    }
    // Each of the two nodes first logs one loss of Redis. After that, each node logs at most one return and one loss per second.
    const allowed = 2 + 4 * Math.floor((performance.now() - begin) / 1_000);
    assert.ok(messages.length >= 2 && messages.length <= allowed, `${messages.length} of ${allowed} lines`);
    await waitUntilShared();
  });

  it('while Redis hangs, the next ten calls after the first timeout take less than 2.5 s together', {
    timeout: 30_000,
  }, async (t) => {
    redis.freeze();
    t.after(() => redis.thaw());
    const headers = await newCaller();
    await remaining(first, headers);
    const begin = performance.now();
    for (let sent = 0; sent < 10; sent += 1) {
      await remaining(first, headers);
    }
    assert.ok(performance.now() - begin < 2_500, `${performance.now() - begin} ms for ten calls`);
    redis.thaw();
    await waitUntilShared();
  });
});

describe('budgets of calls in a Redis that does not run when the service starts', { skip }, () => {
  it('if Redis starts after the service, calls are counted in memory at first, and then two nodes share the budgets in Redis', async () => {
    const redis = await createRedis(program ?? '');
    const service = await startService({ budgets: await createRedisBudgets(redis.url, SILENT, TIMES) });
    const beside = await startService({
      beside: service,
      budgets: await createRedisBudgets(redis.url, SILENT, TIMES),
    });
    try {
      const { partner, tenantId } = await service.tenant();
      const get = (node: TestService, headers: Record<string, string>) => node.call('GET', ORDERS, { headers });
      assert.equal((await get(service, partner)).headers.get('x-ratelimit-remaining'), '299');
      await redis.start();
      let seen: string | null = null;
      for (const deadline = Date.now() + 15_000; seen !== '298' && Date.now() < deadline; await sleep(50)) {
        const { partner: headers } = await service.credential(tenantId);
        await get(service, headers);
        seen = (await get(beside, headers)).headers.get('x-ratelimit-remaining');
      }
      assert.equal(seen, '298');
    } finally {
      await beside.close();
      await service.close();
      await redis.close();
    }
  });
});
