import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { RecentChanges } from '#platform/changes/changes.ts';
import { createDatabase } from '#platform/db/database.ts';
import { ApiError } from '#platform/errors.ts';
import { assertError } from '#test/support/answers.ts';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { pmsHeaders } from '#test/support/hotel.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, isSignedWith, register } from '#test/support/webhooks.ts';
import { entriesOf } from '#test/support/lists.ts';
import { Authentication } from './authentication.ts';

const MENU = '/v1/third-party/menu/';

let service: TestService;
let other: TestService;
let tenant: TestTenant;
before(async () => {
  service = await startService({ worker: true });
  other = await startService({ beside: service });
});
beforeEach(async () => {
  tenant = await service.tenant();
});
after(async () => {
  await other.close();
  await service.close();
});

const rotate = (json: unknown, id = tenant.credential.id, headers = tenant.owner) =>
  service.call('POST', `/v1/staff/credentials/${id}/rotate/`, { headers, json });

async function rotated(overlapMinutes: number) {
  const answer = await rotate({ overlap_minutes: overlapMinutes });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Makes one call with each of the secrets on each of the two nodes. Returns one array per secret with the statuses of both nodes. */
async function statuses(...secrets: string[]): Promise<number[][]> {
  const headers = (secret: string) => ({ 'x-api-key': tenant.credential.api_key, 'x-api-secret': secret });
  const nodes = [service, other];
  return await Promise.all(
    secrets.map(async (secret) =>
      Promise.all(nodes.map(async (node) => (await node.call('GET', MENU, { headers: headers(secret) })).status)),
    ),
  );
}

/**
 * Sets the end of the previous secret to `ms` milliseconds from now, by the clock of the database.
 * @returns the end in milliseconds since 1970, without the fraction of a millisecond
 */
async function endIn(ms: number): Promise<number> {
  const { rows } = await sql<{ ends_at: Date }>`
    UPDATE credential SET previous_secret_ends_at = now() + make_interval(secs => ${ms / 1000})
    WHERE tenant_id = ${tenant.tenantId} AND id = ${tenant.credential.id}
    RETURNING previous_secret_ends_at AS ends_at`.execute(service.database.db);
  return rows[0]?.ends_at.getTime() ?? assert.fail('the credential is missing');
}

const BOTH = [200, 200];
const NO_NODE = [401, 401];

describe('POST /v1/staff/credentials/{id}/rotate/', () => {
  it('200: a rotation with an overlap returns the API key, the new secret and the end time of the old secret, and both secrets work on both nodes', async () => {
    const { id, label, api_key, api_secret: old } = tenant.credential;
    assert.deepEqual(await statuses(old), [BOTH]);
    const beganAtMs = Date.now();
    const answer = await rotate({ overlap_minutes: 60 });
    const endedAtMs = Date.now();
    assert.equal(answer.status, 200, answer.text);
    const { api_secret, previous_secret_ends_at: endsAt } = answer.body;
    assert.deepEqual(answer.body, { id, label, api_key, api_secret, previous_secret_ends_at: endsAt });
    assert.deepEqual(Object.keys(answer.body), ['id', 'label', 'api_key', 'api_secret', 'previous_secret_ends_at']);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const rotatedAtMs = Date.parse(endsAt) - 3_600_000;
    assert.ok(rotatedAtMs > beganAtMs - 1_000 && rotatedAtMs < endedAtMs + 1_000, endsAt);
    assert.deepEqual(await statuses(old, api_secret, old, api_secret), [BOTH, BOTH, BOTH, BOTH]);
  });

  it('401: if a rotation has an overlap of 0, both nodes refuse the old secret after the response to the rotation', async () => {
    const { api_secret: old } = tenant.credential;
    assert.deepEqual(await statuses(old), [BOTH]);
    const { api_secret, previous_secret_ends_at: endsAt } = await rotated(0);
    assert.deepEqual(await statuses(old, api_secret), [NO_NODE, BOTH]);
    assert.ok(Date.parse(endsAt) <= Date.now(), endsAt);
  });

  it('401: a second rotation ends the oldest secret immediately, and the second secret works until the end of its own overlap', async () => {
    const { api_secret: first } = tenant.credential;
    const { api_secret: second } = await rotated(60);
    assert.deepEqual(await statuses(first, second), [BOTH, BOTH]);
    const { api_secret: third } = await rotated(1);
    assert.deepEqual(await statuses(first, second, third), [NO_NODE, BOTH, BOTH]);
  });

  it('401: during an overlap, a revocation or a rotation through the third-party API ends both secrets immediately', async () => {
    const { api_secret: first, id } = tenant.credential;
    const { api_secret: second } = await rotated(60);
    assert.deepEqual(await statuses(first, second), [BOTH, BOTH]);
    const act = (what: string) =>
      service.call('POST', `/v1/third-party/credentials/${id}/${what}/`, { headers: tenant.owner });
    const answer = await act('rotate');
    assert.deepEqual(Object.keys(answer.body), ['id', 'label', 'api_key', 'api_secret']);
    const third = answer.body.api_secret;
    assert.deepEqual(await statuses(first, second, third), [NO_NODE, NO_NODE, BOTH]);
    const { api_secret: fourth } = await rotated(60);
    assert.deepEqual(await statuses(third, fourth), [BOTH, BOTH]);
    assert.equal((await act('revoke')).status, 200);
    assert.deepEqual(await statuses(first, second, third, fourth), [NO_NODE, NO_NODE, NO_NODE, NO_NODE]);
  });

  it('200, 401: on both nodes, the old secret works until its end, and is refused from then on, although it was cached', async () => {
    const { api_secret: old } = tenant.credential;
    const { api_secret } = await rotated(1);
    const headers = { 'x-api-key': tenant.credential.api_key, 'x-api-secret': old };
    const callOn = async (node: TestService) => {
      const beganAtMs = Date.now();
      const { status } = await node.call('GET', MENU, { headers });
      return { beganAtMs, endedAtMs: Date.now(), status };
    };
    const nodes = [service, other];
    let endsAtMs = 0;
    let first: Awaited<ReturnType<typeof callOn>>[];
    // Each node must get a call before the old secret ends, so that it caches the secret. If the machine was too slow for this, the test
    // sets a later end.
    for (let lifetimeMs = 900; ; lifetimeMs *= 2) {
      endsAtMs = await endIn(lifetimeMs);
      first = await Promise.all(nodes.map(callOn));
      if (first.every(({ endedAtMs }) => endedAtMs < endsAtMs)) break;
    }
    const lane = async (node: TestService, index: number) => {
      const calls = first.slice(index, index + 1);
      // The last call begins at least 400 ms after the end of the old secret.
      while ((calls.at(-1)?.beganAtMs ?? 0) < endsAtMs + 400) {
        calls.push(await callOn(node));
        await sleep(10); // With more calls, a quick machine would use up the budget of a minute.
      }
      return calls;
    };
    for (const [node, calls] of (await Promise.all(nodes.map(lane))).entries()) {
      const early = calls.filter(({ endedAtMs }) => endedAtMs < endsAtMs);
      const late = calls.filter(({ beganAtMs }) => beganAtMs > endsAtMs);
      const statusesOf = (some: typeof calls) => new Set(some.map(({ status }) => status));
      assert.deepEqual([statusesOf(early), statusesOf(late)], [new Set([200]), new Set([401])], `node ${node}`);
    }
    assert.deepEqual(await statuses(api_secret), [BOTH]);
  });

  it('200: during the overlap, both secrets of a PMS credential are accepted', async () => {
    const old = await pmsHeaders(service, tenant);
    const { body: list } = await service.call('GET', '/v1/channel-manager/credentials/', { headers: tenant.owner });
    const answer = await rotate({ overlap_minutes: 5 }, list[0].id);
    assert.equal(answer.status, 200, answer.text);
    const fresh = { ...old, 'x-pms-api-secret': answer.body.api_secret };
    for (const headers of [old, fresh]) {
      for (const node of [service, other]) {
        assert.equal((await node.call('GET', '/v1/channel-manager/pms/properties/', { headers })).status, 200);
      }
    }
  });

  it('200: a rotation does not change the webhook secret, which signs the deliveries during and after the overlap', async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const webhookSecret = await register(service, tenant.partner, receiver.url);
    await rotated(60);
    await causeEvent(service, tenant);
    await receiver.waitFor(1);
    const { api_secret } = await rotated(0);
    await causeEvent(service, tenant, { ...tenant.partner, 'x-api-secret': api_secret });
    assert.equal((await receiver.waitFor(2)).length, 2);
    const { body } = await service.call('GET', '/v1/staff/credentials/', { headers: tenant.owner });
    assert.equal(body[0].webhook_url, receiver.url);
    assert.ok(receiver.requests.every((request) => isSignedWith(webhookSecret, request)));
  });

  it('200: the audit trail has the time at which the old secret ends, and no audit entry and no database row contains a secret', async () => {
    const { api_secret, previous_secret_ends_at } = await rotated(60);
    const { body, text } = await service.call('GET', '/v1/staff/audit/', { headers: tenant.owner });
    const entry = body.results.find(({ action }: { action: string }) => action === 'credential.rotated');
    assert.deepEqual(entry.details, { audience: 'third_party', label: 'A platform', previous_secret_ends_at });
    assert.ok(!text.includes(api_secret.slice(4)));
    const { rows } = await sql`SELECT * FROM credential WHERE tenant_id = ${tenant.tenantId}`.execute(
      service.database.db,
    );
    assert.ok(!JSON.stringify(rows).includes(api_secret.slice(4)));
  });

  it('200: an overlap of 1,440 minutes is accepted in a URL-encoded form', async () => {
    const body = new URLSearchParams({ overlap_minutes: '1440' });
    const path = `/v1/staff/credentials/${tenant.credential.id}/rotate/`;
    const answer = await service.call('POST', path, { headers: tenant.owner, body });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(Date.parse(answer.body.previous_secret_ends_at) > Date.now() + 86_000_000);
  });

  it('409: a revoked credential cannot be rotated', async () => {
    const { id } = tenant.credential;
    await service.call('POST', `/v1/third-party/credentials/${id}/revoke/`, { headers: tenant.owner });
    assertError(await rotate({ overlap_minutes: 1 }), 409, 'invalid_status_transition');
  });
});

describe('a rotation whose response to the COMMIT is lost', () => {
  let loser: CommitProxy;
  let node: TestService;
  before(async () => {
    loser = await startCommitProxy(service.database.url);
    node = await startService({ beside: { ...service, database: { ...service.database, db: loser.db } } });
  });
  after(async () => {
    await node.close();
    await loser.close();
  });

  it('200: if the response to the COMMIT of a rotation is lost, the old and the new secret work, and the rotation has one audit entry', async () => {
    loser.dropNextCommitResponse();
    const path = `/v1/staff/credentials/${tenant.credential.id}/rotate/`;
    const answer = await node.call('POST', path, { headers: tenant.owner, json: { overlap_minutes: 60 } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(loser.lostCount, 1);
    assert.deepEqual(await statuses(tenant.credential.api_secret, answer.body.api_secret), [BOTH, BOTH]);
    const body = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
    const entries = body.filter(({ action }: { action: string }) => action === 'credential.rotated');
    assert.deepEqual(
      entries.map(({ details }: { details: { previous_secret_ends_at: string } }) => details.previous_secret_ends_at),
      [answer.body.previous_secret_ends_at],
    );
  });
});

describe('the cache of callers during an overlap', () => {
  it('if a credential has two valid secrets after a rotation, the first call with each secret makes one database query, and later calls make no query', async (t) => {
    const { api_key: key, api_secret: old } = tenant.credential;
    const { api_secret: fresh } = await rotated(60);
    let queries = 0;
    const db = createDatabase({ url: service.database.url, poolSize: 2, log: () => void (queries += 1) });
    const changes = new RecentChanges(service.database.db, pino({ level: 'silent' }));
    const authentication = new Authentication({
      audience: 'third_party',
      db,
      keyring: service.keyring,
      caches: changes,
      onError: (error) => assert.fail(String(error)),
    });
    changes.start();
    await changes.catchUp();
    // The clock of the leases stands still from now on. Otherwise the lease of the cache would end if the machine stalls for 0.5 s.
    const nowMs = performance.now();
    t.mock.method(performance, 'now', () => nowMs);
    try {
      await authentication.authenticate(key, old);
      await authentication.authenticate(key, fresh);
      assert.equal(queries, 2);
      for (let times = 0; times < 10; times += 1) {
        await authentication.authenticate(key, old);
        await authentication.authenticate(key, fresh);
      }
      assert.equal(queries, 2);
      await assert.rejects(authentication.authenticate(key, `${old}x`), ApiError);
      assert.equal(queries, 3);
      await authentication.authenticate(key, old);
      assert.equal(queries, 3);
    } finally {
      await changes.close();
      await authentication.close();
      await db.destroy();
    }
  });
});
