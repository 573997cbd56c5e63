import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyReply } from 'fastify';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { createMemoryBudgets, countCall } from './rate-limit.ts';

const ORDERS = '/v1/third-party/orders/';

function budgetOf({ headers }: Answer): { limit: number; remaining: number; resetSeconds: number } {
  const read = (name: string) => {
    const value = headers.get(`x-ratelimit-${name}`);
    assert.match(value ?? '', /^\d+$/, name);
    return Number(value);
  };
  return { limit: read('limit'), remaining: read('remaining'), resetSeconds: read('reset') };
}

describe('the budget of calls that a credential may make in a minute', () => {
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
  });
  after(() => service.close());

  it('429: if one credential makes 320 calls to different endpoints, 300 calls are accepted and 20 calls are refused', async () => {
    const { partner } = await service.credential(tenant.tenantId);
    const calls: [string, string][] = [
      ['GET', '/v1/third-party/menu/'],
      ['HEAD', '/v1/third-party/menu/'],
      ['GET', ORDERS],
      ['POST', ORDERS],
      ['GET', `${ORDERS}none/`],
      ['POST', `${ORDERS}none/cancel/`],
      ['POST', '/v1/third-party/webhook/'],
      ['GET', `${ORDERS}%ZZ/`],
    ];
    const answers: Answer[] = [];
    for (let sent = 0; sent < 320; sent += 40) {
      const batch = Array.from({ length: 5 }, () => calls).flat();
      answers.push(
        ...(await Promise.all(batch.map(([method, path]) => service.call(method, path, { headers: partner })))),
      );
    }
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 20);
    const accepted = answers.filter(({ status }) => status !== 429);
    assert.deepEqual(
      accepted.map((answer) => budgetOf(answer).remaining).sort((a, b) => a - b),
      Array.from({ length: 300 }, (_, index) => index),
    );
    for (const answer of refused.filter(({ text }) => text !== '')) {
      assert.deepEqual(Object.keys(answer.body), ['code', 'message']);
      assert.equal(answer.body.code, 'rate_limited');
    }
    for (const answer of answers) {
      const { limit, resetSeconds } = budgetOf(answer);
      assert.equal(limit, 300);
      assert.ok(resetSeconds >= 1 && resetSeconds <= 60);
      assert.equal(answer.headers.get('retry-after'), answer.status === 429 ? String(resetSeconds) : null);
    }
  });

  it('a call takes nothing from the budgets of other credentials, neither in the same tenant nor in another tenant', async () => {
    const used = await service.credential(tenant.tenantId);
    const beside = await service.credential(tenant.tenantId);
    const other = await service.tenant();
    for (let sent = 0; sent < 3; sent += 1) {
      await service.call('GET', ORDERS, { headers: used.partner });
    }
    for (const headers of [beside.partner, other.partner]) {
      assert.equal(budgetOf(await service.call('GET', ORDERS, { headers })).remaining, 299);
    }
  });

  it('a call with a wrong secret, to an unknown path or with a wrong method is not counted against the budget', async () => {
    const { partner } = await service.credential(tenant.tenantId);
    await service.call('GET', ORDERS, { headers: { ...partner, 'x-api-secret': 'wrong' } });
    await service.call('GET', '/v1/third-party/nope/', { headers: partner });
    await service.call('DELETE', ORDERS, { headers: partner });
    assert.equal(budgetOf(await service.call('GET', ORDERS, { headers: partner })).remaining, 299);
  });

  it('after the secret of a credential is rotated, the calls that the credential made before still count against its budget', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    await service.call('GET', ORDERS, { headers: partner });
    const path = `/v1/third-party/credentials/${credential.id}/rotate/`;
    const rotated = await service.call('POST', path, { headers: tenant.owner });
    const headers = { 'x-api-key': rotated.body.api_key, 'x-api-secret': rotated.body.api_secret };
    assert.equal(budgetOf(await service.call('GET', ORDERS, { headers })).remaining, 298);
  });
});

describe('the window of one minute in which the calls of a budget are counted', () => {
  it('a new window with the full budget begins with the first call after the previous window of 60 s has ended', async (t) => {
    let nowMs = 1_000;
    t.mock.method(performance, 'now', () => nowMs);
    const budget = createMemoryBudgets().budget('any', 2);
    const headers: Record<string, string> = {};
    const reply = { header: (name: string, value: string) => void (headers[name] = value) } as unknown as FastifyReply;
    const take = () => countCall(budget, 'key', reply);
    await take();
    nowMs += 30_000;
    await take();
    await assert.rejects(take, { statusCode: 429, code: 'rate_limited', headers: { 'retry-after': '30' } });
    nowMs += 29_999;
    await assert.rejects(take, { statusCode: 429, headers: { 'retry-after': '1' } });
    nowMs += 1;
    await take();
    assert.deepEqual(headers, { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '60' });
  });

  it('if 200,000 keys of a budget are not used for two minutes, the budget frees their memory, even if calls with another key continue', (t) => {
    let nowMs = 1_000;
    // `t.mock` is not used, because it would keep a record of each call, and this test measures the memory.
    performance.now = () => nowMs;
    t.after(() => Reflect.deleteProperty(performance, 'now'));
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const usedMib = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed / (1024 * 1024);
    };
    const { take } = createMemoryBudgets().budget('any', 300);
    const atBeginMib = usedMib();
    Array.from({ length: 200_000 }, (_, index) => void take(`key ${index}`));
    const atMostMib = usedMib();
    assert.ok(atMostMib - atBeginMib > 10, `${atMostMib - atBeginMib} MiB for 200,000 windows`);
    for (let passed = 0; passed < 4; passed += 1) {
      nowMs += 30_000;
      void take('another key');
    }
    assert.deepEqual(take('key 1'), { count: 1, msLeft: 60_000, isShared: false });
    assert.ok(usedMib() - atBeginMib < 3, `${usedMib() - atBeginMib} MiB after the windows have ended`);
  });

  it('if the window of one key has ended, a key whose window began 40 s later keeps its count of calls and its time left', (t) => {
    let nowMs = 1_000;
    t.mock.method(performance, 'now', () => nowMs);
    const { take, look } = createMemoryBudgets().budget('any', 300);
    void take('first');
    nowMs += 40_000;
    void take('second');
    nowMs += 49_999;
    // This call comes more than 60 s after the first one, so it removes the windows that have ended, but not the window of `second`.
    void take('fourth');
    assert.deepEqual(look('second'), { count: 1, msLeft: 10_001, isShared: false });
    assert.deepEqual(take('second'), { count: 2, msLeft: 10_001, isShared: false });
    assert.deepEqual(take('first'), { count: 1, msLeft: 60_000, isShared: false });
    nowMs += 10_001;
    assert.deepEqual(take('second'), { count: 1, msLeft: 60_000, isShared: false });
    nowMs += 49_998;
    assert.deepEqual(take('first'), { count: 2, msLeft: 1, isShared: false });
  });
});
