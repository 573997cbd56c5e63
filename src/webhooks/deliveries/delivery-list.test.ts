import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { entriesOf } from '#test/support/lists.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { causeEvent, type ListedDelivery, register } from '#test/support/webhooks.ts';

const PATH = '/v1/staff/webhook-deliveries/';
const URL_A = 'https://partner.example/hook';

const { service, tenant } = await useRestaurant();

describe('GET /v1/staff/webhook-deliveries/', () => {
  let ids: string[];
  /** Restaurant orders that the events in `ids` are about, oldest first. */
  const orders: { id: string; external_id: string }[] = [];

  before(async () => {
    await causeEvent(service, tenant); // This event has no delivery, because no webhook is registered yet.
    await register(service, tenant.partner, URL_A);
    for (let count = 0; count < 5; count += 1) {
      const { orderId, externalId } = await causeEvent(service, tenant);
      orders.push({ id: orderId, external_id: externalId });
    }
    ids = (await list(tenant, '')).map((delivery) => delivery.id).reverse();
    await settle(ids[1], 'delivered', [{ at: '2026-01-02T03:04:05.678901+00:00', http_status: 204, duration_ms: 12 }]);
    await settle(ids[3], 'delivered', [{ at: '2026-01-02T03:04:06Z', http_status: 200, duration_ms: 0 }]);
  });

  async function list(of: TestTenant, query: string): Promise<ListedDelivery[]> {
    return await entriesOf(service, PATH + query, of.staff);
  }

  async function settle(id: string | undefined, status: string, attempts: object[]): Promise<void> {
    const withError = attempts.map((attempt) => ({ ...attempt, error: null }));
    await service.database.db
      .updateTable('delivery')
      .set({ status, attempts: JSON.stringify(withError), attempt_count: attempts.length })
      .where('id', '=', id ?? '')
      .execute();
  }

  it('200: the list of deliveries is newest first, leaves out events without a delivery, and has the fields of the contract', async () => {
    const deliveries = await list(tenant, '');
    assert.deepEqual(
      deliveries.map(({ id, status }) => [id, status]),
      [
        [ids[4], 'pending'],
        [ids[3], 'delivered'],
        [ids[2], 'pending'],
        [ids[1], 'delivered'],
        [ids[0], 'pending'],
      ],
    );
    const times = deliveries.map((delivery) => delivery.created_at);
    assert.deepEqual(times, [...times].sort().reverse());
    const delivered = deliveries[3];
    const expected = {
      id: ids[1],
      event: 'order.status_changed',
      event_id: ids[1],
      status: 'delivered',
      attempts: [{ at: '2026-01-02T03:04:05.678Z', http_status: 204, duration_ms: 12, error: null }],
      created_at: delivered?.created_at,
      credential_id: tenant.credential.id,
      credential_label: 'A platform',
      next_attempt_at: null,
      subject: { type: 'order', ...orders[1] },
    };
    assert.equal(JSON.stringify(delivered), JSON.stringify(expected));
    assert.match(String(delivered?.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('200: with ?status= in the URL, the list has only deliveries with this status', async () => {
    const idsOf = async (query: string) => (await list(tenant, query)).map((delivery) => delivery.id);
    assert.deepEqual(await idsOf('?status=delivered'), [ids[3], ids[1]]);
    assert.deepEqual(await idsOf('?status=pending'), [ids[4], ids[2], ids[0]]);
    assert.deepEqual(await idsOf('?status=failed'), []);
    assert.deepEqual(await idsOf('?status=stopped'), []);
  });

  it('200: the list of a tenant has only deliveries of this tenant', async () => {
    const other = await service.tenant();
    await register(service, other.partner, URL_A);
    await causeEvent(service, other);
    const othersList = await list(other, '');
    assert.equal(othersList.length, 1);
    assert.equal(ids.includes(othersList[0]?.id ?? ''), false);
    assert.equal((await list(tenant, '')).length, 5);
  });
});
