import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { cleanUp, startServing } from '#test/support/command.ts';
import type { Answer } from '#test/support/http.ts';
import { call } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { eventually } from '#test/support/webhooks.ts';

const PATH = '/v1/third-party/menu/';
const LANES = 4;

const { service, tenant } = await useRestaurant();
const env = {
  DATABASE_URL: service.database.url,
  MASTER_KEY: service.masterKey.toString('base64'),
  RATE_LIMIT_PER_MINUTE: '1000000',
};
/** URLs of two processes of the service that share one database. */
const nodes = (await Promise.all([1, 2].map(() => startServing(['--only', 'api'], { env })))).map(({ url }) => url);
after(async () => {
  await cleanUp();
});

type Headers = Record<string, string>;

interface Call {
  startedAt: number;
  status: number;
}

/** Makes calls until `stop` is called, always `LANES` calls at the same time. Records the start time and the status of each call. */
function startLoad(url: string, headers: Headers) {
  const calls: Call[] = [];
  let isOver = false;
  const lane = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const { status } = await call(url, 'GET', PATH, { headers });
      calls.push({ startedAt, status });
    }
  };
  const lanes = Array.from({ length: LANES }, lane);
  return {
    calls,
    until: (isEnough: () => boolean) => eventually(isEnough, 'number of calls', 60_000),
    async stop() {
      isOver = true;
      await Promise.all(lanes);
    },
  };
}

/**
 * Calls `withdraw`, which revokes or rotates the credential, while both processes of the service are under load. Asserts that both
 * processes refuse every call that starts after the response of `withdraw`.
 */
async function withdrawUnderLoad(headers: Headers, withdraw: () => Promise<Answer>): Promise<Answer> {
  const loads = nodes.map((url) => startLoad(url, headers));
  await Promise.all(loads.map((each) => each.until(() => each.calls.length >= 20)));
  const answer = await withdraw();
  const answeredAt = performance.now();
  const later = ({ calls }: (typeof loads)[number]) => calls.filter((each) => each.startedAt > answeredAt);
  await Promise.all(loads.map((each) => each.until(() => later(each).length >= 40)));
  await Promise.all(loads.map((each) => each.stop()));
  for (const each of loads) {
    assert.deepEqual(new Set(later(each).map(({ status }) => status)), new Set([401]));
    assert.deepEqual(new Set(each.calls.map(({ status }) => status)), new Set([200, 401]));
    assert.deepEqual(new Set(each.calls.slice(0, 20 - LANES).map(({ status }) => status)), new Set([200]));
  }
  return answer;
}

const rotateWithOverlap = (id: string) =>
  call(nodes[0] ?? '', 'POST', `/v1/staff/credentials/${id}/rotate/`, {
    headers: tenant.owner,
    json: { overlap_minutes: 60 },
  });

const change = (id: string, what: 'revoke' | 'rotate') =>
  call(nodes[0] ?? '', 'POST', `/v1/third-party/credentials/${id}/${what}/`, { headers: tenant.owner });

describe('a revoked or rotated credential', () => {
  it('401: after a rotation has responded, every process refuses the old secret and accepts the new one', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const answer = await withdrawUnderLoad(partner, () => change(credential.id, 'rotate'));
    assert.equal(answer.status, 200);
    const headers = { 'x-api-key': answer.body.api_key, 'x-api-secret': answer.body.api_secret };
    for (const url of nodes) {
      assert.equal((await call(url, 'GET', PATH, { headers })).status, 200);
    }
  });

  it('401: after a revocation has responded, every process refuses the credential', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const answer = await withdrawUnderLoad(partner, () => change(credential.id, 'revoke'));
    assert.deepEqual([answer.status, answer.body.is_active], [200, false]);
  });

  it('401: after a second rotation with an overlap has responded, every process refuses the oldest secret and accepts the two others', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const first = await rotateWithOverlap(credential.id);
    const second = await withdrawUnderLoad(partner, () => rotateWithOverlap(credential.id));
    for (const { status, body } of [first, second]) {
      assert.equal(status, 200);
      const headers = { 'x-api-key': body.api_key, 'x-api-secret': body.api_secret };
      for (const url of nodes) {
        assert.equal((await call(url, 'GET', PATH, { headers })).status, 200);
      }
    }
  });

  for (const what of ['revoke', 'rotate'] as const) {
    it(`401: during an overlap, after ${what} in the third-party API has responded, every process refuses the previous and the present secret`, async () => {
      const { credential, partner } = await service.credential(tenant.tenantId);
      const { body } = await rotateWithOverlap(credential.id);
      const present = { 'x-api-key': body.api_key, 'x-api-secret': body.api_secret };
      const answer = await withdrawUnderLoad(partner, () => change(credential.id, what));
      assert.equal(answer.status, 200);
      for (const url of nodes) {
        assert.equal((await call(url, 'GET', PATH, { headers: present })).status, 401);
      }
    });
  }

  it('200: during and after a rotation with an overlap, all processes accept all calls, with the old and with the new secret', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const loads = nodes.map((url) => startLoad(url, partner));
    await Promise.all(loads.map((each) => each.until(() => each.calls.length >= 20)));
    const { body } = await rotateWithOverlap(credential.id);
    const fresh = nodes.map((url) => startLoad(url, { 'x-api-key': body.api_key, 'x-api-secret': body.api_secret }));
    await Promise.all(fresh.map((each) => each.until(() => each.calls.length >= 40)));
    await Promise.all([...loads, ...fresh].map((each) => each.stop()));
    const all = [...loads, ...fresh].flatMap(({ calls }) => calls.map(({ status }) => status));
    assert.deepEqual(new Set(all), new Set([200]));
  });

  it('200: after a revocation, every process still accepts the other credentials of the tenant', async () => {
    const [gone, stays] = [await service.credential(tenant.tenantId), await service.credential(tenant.tenantId)];
    await change(gone.credential.id, 'revoke');
    for (const url of nodes) {
      assert.equal((await call(url, 'GET', PATH, { headers: stays.partner })).status, 200);
      assert.equal((await call(url, 'GET', PATH, { headers: gone.partner })).status, 401);
    }
  });
});
