import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { eventOf, insertEvents } from '#test/support/feed.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { causeEvent, onlyDelivery, register } from '#test/support/webhooks.ts';
import { newId } from '#platform/lib/ids.ts';

const PATH = '/v1/staff/credentials/';
const NONE = { pending: 0, failed: 0, last_failed_at: null, oldest_pending_at: null };

describe('GET /v1/staff/credentials/', () => {
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService({ worker: { drawWaitMs: () => 0 } });
  });
  beforeEach(async () => {
    tenant = await service.tenant();
  });
  after(() => service.close());

  async function list(of: TestTenant = tenant) {
    const answer = await service.call('GET', PATH, { headers: of.owner });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  const attempts = (at: string) =>
    JSON.stringify([
      { at: '2026-01-01T00:00:00Z', http_status: 500, duration_ms: 1, error: 'http_status' },
      { at, http_status: 500, duration_ms: 1, error: 'http_status' },
    ]);

  it('200: the list has every third-party credential, with delivery counts of zero if no event was ever sent', async () => {
    const second = await service.credential(tenant.tenantId);
    const elsewhere = await service.call('GET', '/v1/third-party/credentials/', { headers: tenant.owner });
    const pms = await service.call('POST', '/v1/channel-manager/credentials/', { headers: tenant.owner });
    assert.equal(pms.status, 201);
    const all = await list();
    assert.deepEqual(
      all,
      elsewhere.body.map((credential: object) => ({ ...credential, deliveries: NONE })),
    );
    assert.deepEqual(
      all.map(({ id }: { id: string }) => id),
      [second.credential.id, tenant.credential.id],
    );
    assert.deepEqual(Object.keys(all[0]), [...Object.keys(elsewhere.body[0]), 'deliveries']);
    assert.deepEqual(Object.keys(all[0].deliveries), ['pending', 'failed', 'last_failed_at', 'oldest_pending_at']);
  });

  it('200: each credential shows the counts and times of its own waiting and failed deliveries only', async () => {
    const other = await service.credential(tenant.tenantId);
    const stranger = await service.tenant();
    // These deliveries are due in one hour, so the worker does not send them during the test.
    const waiting = { delivery: { status: 'pending', next_attempt_at: new Date(Date.now() + 3_600_000) } };
    const ended = (status: string, at: string) => ({ delivery: { status, attempts: attempts(at) } });
    const [earlierId, laterId] = [newId(), newId()];
    await insertEvents(service.database.db, [
      eventOf(tenant, { ...waiting, id: laterId, created_at: new Date('2026-03-02T00:00:00Z') }),
      eventOf(tenant, { ...waiting, id: earlierId, created_at: new Date('2026-03-01T08:00:00.5Z') }),
      eventOf(tenant, ended('failed', '2026-02-03T00:00:00Z')),
      eventOf(tenant, ended('failed', '2026-02-01T04:05:06.789123Z')),
      eventOf(tenant, ended('delivered', '2026-04-01T00:00:00Z')),
      eventOf(tenant, ended('stopped', '2026-04-01T00:00:00Z')),
      eventOf(tenant),
      eventOf(tenant, { ...ended('failed', '2026-02-04T00:00:00Z'), credential_id: other.credential.id }),
      eventOf(stranger, ended('failed', '2026-02-05T00:00:00Z')),
    ]);
    const byId = async (of: TestTenant) =>
      Object.fromEntries(
        (await list(of)).map(({ id, deliveries }: { id: string; deliveries: object }) => [id, deliveries]),
      );
    assert.deepEqual(await byId(tenant), {
      [tenant.credential.id]: {
        pending: 2,
        failed: 2,
        last_failed_at: '2026-02-01T04:05:06.789Z',
        oldest_pending_at: '2026-03-01T08:00:00.500Z',
      },
      [other.credential.id]: { ...NONE, failed: 1, last_failed_at: '2026-02-04T00:00:00.000Z' },
    });
    assert.deepEqual(await byId(stranger), {
      [stranger.credential.id]: { ...NONE, failed: 1, last_failed_at: '2026-02-05T00:00:00.000Z' },
    });
  });

  it('200: a revoked credential still shows its failed delivery, with the time of the fifth attempt', async (t) => {
    const receiver = await startReceiver({ answer: () => 500 });
    t.after(() => receiver.close());
    await register(service, tenant.partner, receiver.url);
    await causeEvent(service, tenant);
    const delivery = await onlyDelivery(service, tenant, 'failed');
    await service.call('POST', `/v1/third-party/credentials/${tenant.credential.id}/revoke/`, {
      headers: tenant.owner,
    });
    const [credential] = await list();
    assert.equal(credential.is_active, false);
    assert.deepEqual(credential.deliveries, { ...NONE, failed: 1, last_failed_at: delivery.attempts[4]?.at });
  });
});
