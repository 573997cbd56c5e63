import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { entriesOf } from '#test/support/lists.ts';
import { firstIdAt, newId } from '#platform/lib/ids.ts';

const PATH = '/v1/staff/credentials/';
const HOUR_MS = 3_600_000;
const NO_DELIVERIES = { delivered: 0, failed: 0, pending: 0, p50_ms: null, p95_ms: null };
const UNKNOWN = '01920000-0000-7000-8000-000000000000';

let service: TestService;
let tenant: TestTenant;
before(async () => {
  service = await startService();
});
beforeEach(async () => {
  tenant = await service.tenant();
});
after(() => service.close());

async function read(id = tenant.credential.id) {
  const answer = await service.call('GET', `${PATH}${id}/`, { headers: tenant.owner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const withoutTime = ({ at: _, ...counts }: { at: string }) => counts;

async function makePmsCredential() {
  const answer = await service.call('POST', '/v1/channel-manager/credentials/', {
    headers: tenant.owner,
    json: { label: 'Front desk' },
  });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

/**
 * Inserts an event of the tenant's credential with the given time, in milliseconds of Unix time. The event has a delivery only if `status`
 * is given. The delivery has two attempts, and `durationMs` is the duration of the second attempt.
 */
async function insertEvent(atMs: number, status?: 'delivered' | 'failed' | 'pending' | 'stopped', durationMs = 10) {
  const attempts = JSON.stringify([
    { at: new Date(atMs), http_status: 500, duration_ms: 9_999, error: 'http_status' },
    { at: new Date(atMs), http_status: status === 'delivered' ? 204 : 500, duration_ms: durationMs, error: null },
  ]);
  const delivery = status && { status, attempts, attempt_count: 2 };
  const id = firstIdAt(atMs).slice(0, 14) + newId().slice(14);
  await insertEvents(service.database.db, [
    eventOf(tenant, { id, created_at: new Date(atMs), ...(delivery ? { delivery } : {}) }),
  ]);
}

describe('GET /v1/staff/credentials/{id}/', () => {
  it('200: an unused credential has the fields of its entry in the credential list, 0 used calls, and 0 deliveries in each hour of the last day', async () => {
    const askedAtMs = Date.now();
    const { budget, health, ...entry } = await read();
    const list = await service.call('GET', PATH, { headers: tenant.owner });
    assert.deepEqual(entry, list.body[0]);
    assert.deepEqual(Object.keys(entry), Object.keys(list.body[0]));
    assert.deepEqual(budget, { limit: 300, used: 0, resets_in_s: 0, is_shared: false });
    const dayAgoMs = askedAtMs - 24 * HOUR_MS;
    assert.ok(Date.parse(health.since) >= dayAgoMs && Date.parse(health.since) < dayAgoMs + 10_000, health.since);
    const firstHour = Math.floor(Date.parse(health.since) / HOUR_MS);
    assert.deepEqual(
      health.hours,
      Array.from({ length: 25 }, (_, index) => ({
        at: new Date((firstHour + index) * HOUR_MS).toISOString(),
        ...NO_DELIVERIES,
      })),
    );
  });

  it('200: the budget shows the calls of the present minute, and reading the credential does not count as a call', async () => {
    const calls = async (count: number) => {
      const answers = Array.from({ length: count }, () =>
        service.call('GET', '/v1/third-party/menu/', { headers: tenant.partner }),
      );
      return await Promise.all(answers);
    };
    const begunAtMs = performance.now();
    await calls(3);
    for (let times = 0; times < 3; times += 1) {
      const { budget } = await read();
      assert.deepEqual([budget.limit, budget.used, budget.is_shared], [300, 3, false]);
      const leastSeconds = 60 - (performance.now() - begunAtMs) / 1_000 - 1;
      assert.ok(budget.resets_in_s > leastSeconds && budget.resets_in_s <= 60, String(budget.resets_in_s));
    }
    const [next] = await calls(1);
    assert.equal(next?.headers.get('x-ratelimit-remaining'), '296');
    await calls(300);
    assert.equal((await read()).budget.used, 300, 'refused calls are not shown as used');
  });

  it('200: a credential shows its deliveries of each hour by status, and only the durations of successful attempts', async () => {
    const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * HOUR_MS;
    for (const durationMs of [10, 20, 30, 40, 100]) {
      await insertEvent(hourMs, 'delivered', durationMs);
    }
    await insertEvent(hourMs, 'failed', 10_000);
    await insertEvent(hourMs + HOUR_MS - 1, 'failed');
    await insertEvent(hourMs + HOUR_MS, 'pending');
    await insertEvent(hourMs + HOUR_MS, 'stopped');
    await insertEvent(hourMs + HOUR_MS);
    await insertEvent(Date.now() - 25 * HOUR_MS, 'delivered');
    const { hours } = (await read()).health;
    const counts = hours.filter(({ delivered, failed, pending }: Record<string, number>) => {
      return delivered || failed || pending;
    });
    assert.deepEqual(counts, [
      { at: new Date(hourMs).toISOString(), delivered: 5, failed: 2, pending: 0, p50_ms: 30, p95_ms: 88 },
      {
        at: new Date(hourMs + HOUR_MS).toISOString(),
        ...NO_DELIVERIES,
        pending: 1,
      },
    ]);
  });

  it('200: `health` counts the newest 5,000 events of a credential, including unread ones, and `since` is the time of the oldest of them', async () => {
    const newestMs = Date.now() - 1_000;
    const atMs = (index: number) => newestMs - index * 1_000;
    const events = Array.from({ length: 5_100 }, (_, index) =>
      eventOf(tenant, { id: firstIdAt(atMs(index)), delivery: { status: 'delivered' } }),
    );
    await insertEvents(service.database.db, events);
    // An event gets its position in the feed when the partner first reads the feed up to this event. This statement sets the positions as
    // if the partner had read only the older events. The newest 2,001 events (with index 0 to 2,000) have no position, so they are unread.
    await sql`
      UPDATE event SET feed_position = ranked.position
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS position FROM event WHERE tenant_id = ${tenant.tenantId}) AS ranked
      WHERE tenant_id = ${tenant.tenantId} AND event.id = ranked.id AND event.id < ${firstIdAt(atMs(2_000))}
    `.execute(service.database.db);
    const { health } = await read();
    const total = health.hours.reduce((sum: number, { delivered }: { delivered: number }) => sum + delivered, 0);
    assert.equal(total, 5_000);
    assert.equal(health.since, new Date(atMs(4_999)).toISOString());
    assert.equal(health.hours[0].at, new Date(Math.floor(atMs(4_999) / HOUR_MS) * HOUR_MS).toISOString());
  });

  it('200: a PMS credential is shown with the budget of the PMS API, without a webhook and without deliveries', async () => {
    const { id, api_key, api_secret } = await makePmsCredential();
    const headers = { 'x-pms-api-key': api_key, 'x-pms-api-secret': api_secret };
    await service.call('GET', '/v1/channel-manager/pms/properties/', { headers });
    const detail = await read(id);
    assert.deepEqual([detail.label, detail.webhook_url, detail.budget.used], ['Front desk', '', 1]);
    assert.match(detail.api_key, /^rpk_[\w-]{4}…/);
    assert.equal((await read()).budget.used, 0);
  });

  it('200: the response with a credential contains no secret and no hash of a secret', async () => {
    const { text } = await service.call('GET', `${PATH}${tenant.credential.id}/`, { headers: tenant.owner });
    assert.ok(!/secret|hash/.test(text), text);
    assert.ok(!text.includes(tenant.credential.api_key), text);
  });
});

describe('PATCH /v1/staff/credentials/{id}/', () => {
  const change = (id: string, json: unknown, headers = tenant.owner) =>
    service.call('PATCH', `${PATH}${id}/`, { headers, json });

  const audit = async () => {
    const body = await entriesOf(service, '/v1/staff/audit/', tenant.owner);
    return body.filter(({ action }: { action: string }) => action === 'credential.changed');
  };

  it('200: the label of a partner or PMS credential changes, and each change adds one audit entry with the old and the new label', async () => {
    const pms = await makePmsCredential();
    for (const id of [tenant.credential.id, pms.id]) {
      const answer = await change(id, { label: '𝒃'.repeat(255) });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.label, '𝒃'.repeat(255));
      const shown = await read(id);
      // The times of both responses differ, and a new hour may have begun between them.
      const { since, hours } = answer.body.health;
      assert.deepEqual(answer.body, { ...shown, health: { ...shown.health, since, hours } });
      assert.deepEqual(hours.map(withoutTime), shown.health.hours.map(withoutTime));
      assert.equal((await change(id, { label: '𝒃'.repeat(255) })).status, 200);
    }
    const [ofPms, ofPartner] = await audit();
    assert.equal((await audit()).length, 2);
    assert.deepEqual(
      [ofPartner.subject, ofPartner.details],
      [
        tenant.credential.id,
        { audience: 'third_party', before: { label: 'A platform' }, after: { label: '𝒃'.repeat(255) } },
      ],
    );
    assert.deepEqual([ofPms.actor.type, ofPms.details.audience], ['user', 'pms']);
    assert.equal((await service.call('GET', '/v1/third-party/menu/', { headers: tenant.partner })).status, 200);
  });

  it('200: a revoked credential may get another label, and the label may be empty', async () => {
    const { id } = tenant.credential;
    await service.call('POST', `/v1/third-party/credentials/${id}/revoke/`, { headers: tenant.owner });
    const answer = await change(id, { label: '' });
    assert.deepEqual([answer.status, answer.body.label, answer.body.is_active], [200, '', false]);
  });

  it('200: a change of a credential ignores all fields except the label', async () => {
    const { id } = tenant.credential;
    const earlier = await read();
    const answer = await change(id, {
      label: 'Other',
      is_active: false,
      webhook_url: 'https://x.example',
      id: UNKNOWN,
    });
    assert.deepEqual(answer.body, { ...earlier, label: 'Other', health: answer.body.health });
  });
});
