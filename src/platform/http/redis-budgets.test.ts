import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createClient } from 'redis';
import { createRedis, findRedis, type Redis } from '#test/support/redis.ts';
import { startService, type TestService } from '#test/support/service.ts';
import type { Budget, BudgetStore } from './rate-limit.ts';
import { createRedisBudgets } from './redis-budgets.ts';

const ORDERS = '/v1/third-party/orders/';
const LOST = 'Redis cannot be used, so this process counts the budgets in its own memory until Redis is back';
const BACK = 'Redis is back: the processes share the budgets again';

const SILENT = pino({ level: 'silent' });
/** Overrides the default times of budgets in Redis, so that the processes share the budgets again soon after Redis is back. */
const TIMES = { announceEveryMs: 250, shareMs: 500, reconnectEveryMs: 100 };

const program = findRedis();
const skip = program === undefined && 'there is no redis-server on PATH';

describe('budgets of calls in Redis, shared by two nodes of the service', { skip }, () => {
  let redis: Redis;
  let first: TestService;
  let second: TestService;
  let tenantId: number;
  const messages: string[] = [];
  before(async () => {
    redis = await createRedis(program ?? '');
    await redis.start();
    const log = pino({}, { write: (line) => void messages.push((JSON.parse(line) as { msg: string }).msg) });
    first = await startService({ budgets: await createRedisBudgets(redis.url, log, TIMES) });
    second = await startService({ beside: first, budgets: await createRedisBudgets(redis.url, log, TIMES) });
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

  /** Waits until Redis counts the calls to both nodes of the service together. */
  async function waitUntilShared(): Promise<void> {
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

  /** Connects a client with which a test can change the settings of Redis. The client is closed at the end of the test. */
  async function openOperator(t: TestContext) {
    const operator = createClient({ url: redis.url });
    await operator.connect();
    t.after(() => operator.destroy());
    return operator;
  }

  it('when a process has just started, its first call is already counted in Redis, not in the memory of the process', async () => {
    for (let started = 1; started <= 3; started += 1) {
      const budgets = await createRedisBudgets(redis.url, SILENT, TIMES);
      const { count } = await budgets.budget('test', 10).take('a caller of three nodes that start');
      await budgets.close();
      assert.equal(count, started);
    }
  });

  it('429: two nodes that share Redis get 340 calls, and exactly 300 are accepted', async () => {
    const headers = await newCaller();
    const statuses: number[] = [];
    for (let sent = 0; sent < 340; sent += 34) {
      const batch = Array.from({ length: 34 }, (_, index) => (index % 2 === 0 ? first : second));
      const answers = await Promise.all(batch.map((node) => node.call('GET', ORDERS, { headers })));
      statuses.push(...answers.map(({ status }) => status));
    }
    assert.deepEqual(
      [200, 429].map((status) => statuses.filter((each) => each === status).length),
      [300, 40],
    );
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
    await sleep(2 * TIMES.announceEveryMs); // In this time, each node learns that two nodes share the budgets.
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
    await sleep(2 * TIMES.announceEveryMs); // In this time, each node learns that two nodes share the budgets.
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
  }, async () => {
    messages.length = 0;
    redis.freeze();
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
  }, async () => {
    redis.freeze();
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

describe('the budget of a key over the loss and the return of Redis, with windows of one second', { skip }, () => {
  const WINDOW_MS = 1_000;
  const LIMIT = 60;
  /**
   * Length in milliseconds of the period in which a test counts calls. It is 100 ms shorter than a window (1,000 ms), because the times
   * that a test records are not exact. A test records the time of the response to a call, which may be up to 100 ms after Redis counted the
   * call. For example, Redis counts two calls that are 1,000 ms apart, and only the first response is 100 ms late. The recorded times are
   * then only 900 ms apart.
   */
  const SEEN_WINDOW_MS = WINDOW_MS - 100;
  const times = { windowMs: WINDOW_MS, announceEveryMs: 200, shareMs: WINDOW_MS + 700, reconnectEveryMs: 100 };

  let redis: Redis;
  let stores: BudgetStore[];
  let nodes: Budget[];
  /** Time at which each call was let in, in milliseconds. */
  let letIn: number[];
  beforeEach(async () => {
    redis = await createRedis(program ?? '');
    await redis.start();
    stores = [await createRedisBudgets(redis.url, SILENT, times), await createRedisBudgets(redis.url, SILENT, times)];
    nodes = stores.map((store) => store.budget('test', LIMIT));
    letIn = [];
    await sleep(2 * times.announceEveryMs); // In this time, each node learns that two nodes share the budgets.
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await redis.close();
  });

  /** Makes `count` calls with one key. The calls go in turn to the nodes whose indices are in `numbers`. */
  async function call(numbers: number[], count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) {
      const node = nodes[numbers[made % numbers.length] ?? 0];
      const { count: counted = 0 } = (await node?.take('key')) ?? {};
      if (counted <= LIMIT) {
        letIn.push(performance.now());
      }
    }
  }

  /** Makes calls to both nodes in turn until `work` has ended, with a pause of 5 ms after each 20 calls. */
  async function callDuring(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    void work.finally(() => (isOver = true));
    while (!isOver) {
      await call([0, 1], 20);
      await sleep(5);
    }
    await work;
  }

  /** Returns the number of calls that were let in within `SEEN_WINDOW_MS` after `fromMs`. */
  function letInFrom(fromMs: number): number {
    return letIn.filter((time) => time >= fromMs && time < fromMs + SEEN_WINDOW_MS).length;
  }

  /** Returns the largest number of calls that were let in within any period of the length `SEEN_WINDOW_MS`. */
  function mostLetIn(): number {
    return Math.max(...letIn.map(letInFrom));
  }

  it('if Redis is lost for 2.5 s, both nodes together accept at most the budget in the first second, and at most twice the budget in any other second', async () => {
    await callDuring(sleep(1.5 * WINDOW_MS));
    await redis.kill();
    const lostAtMs = performance.now();
    await callDuring(sleep(2.5 * WINDOW_MS));
    const duringLoss = letIn.filter((time) => time >= lostAtMs).length;
    await callDuring(redis.start());
    await callDuring(sleep(times.shareMs + WINDOW_MS));

    assert.ok(letInFrom(lostAtMs) <= LIMIT, `${letInFrom(lostAtMs)} calls in the first window after the loss`);
    assert.ok(duringLoss >= 2 * LIMIT && duringLoss <= 4 * LIMIT, `${duringLoss} calls during the loss`);
    assert.ok(mostLetIn() <= 2 * LIMIT, `${mostLetIn()} calls in a window`);
  });

  it('if one node has accepted almost all calls of a budget before a short loss of Redis, both nodes together accept at most twice the budget in any window', async () => {
    await call([1], 1);
    await sleep(WINDOW_MS / 2);
    await call([0], LIMIT - 1);
    await redis.kill();
    const lostAtMs = performance.now();
    await callDuring(sleep(WINDOW_MS / 4));
    await callDuring(redis.start());
    await callDuring(sleep(times.shareMs + WINDOW_MS));
    assert.ok(mostLetIn() <= 2 * LIMIT, `${mostLetIn()} calls in a window`);
    assert.ok(letInFrom(lostAtMs) <= LIMIT, `${letInFrom(lostAtMs)} calls in the first window after the loss`);
  });

  it('if Redis is lost, each of two nodes may accept half of the calls that were left in the budget', async () => {
    await call([0, 1], 20);
    await redis.kill();
    const counts: number[] = [];
    for (const node of [0, 1, 0]) {
      counts.push((await nodes[node]?.take('key'))?.count ?? 0);
    }
    // `take` returns the limit (60 calls) minus the number of calls that the node may still let in. Redis has counted 20 calls, which went
    // to the two nodes in turn. Each node knows the count after its last call:
    // - The first node knows of 19 calls, so 41 calls are left for both nodes. Its half is 20 calls (rounded down). After its first call
    //   without Redis, it may let in 19 more calls (`counts[0]`). After its second call, it may let in 18 more (`counts[2]`).
    // - The second node knows of 20 calls, so 40 calls are left for both nodes. Its half is 20 calls. After its call without Redis, it may
    //   let in 19 more calls (`counts[1]`).
    assert.deepEqual(counts, [LIMIT - 19, LIMIT - 19, LIMIT - 18]);
  });

  it('if there are more nodes than calls in a budget, each node lets in one call while Redis is lost', async () => {
    const small = stores.map((store) => store.budget('small', 1));
    await redis.kill();
    for (const budget of small) {
      assert.deepEqual([(await budget.take('key')).count, (await budget.take('key')).count <= 1], [1, false]);
    }
  });

  it('a node that was closed has no share, so the other node gets the whole budget when Redis is lost', async () => {
    await stores.pop()?.close();
    await sleep(2 * times.announceEveryMs);
    await redis.kill();
    assert.equal((await nodes[0]?.take('key'))?.count, 1);
  });
});
