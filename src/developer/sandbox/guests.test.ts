import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findTenantBySlug } from '#access/tenants/tenants.ts';
import { entriesOf } from '#test/support/lists.ts';
import { openDemo } from '#test/support/sandbox.ts';
import { startService, type TestService } from '#test/support/service.ts';
import type { TestHotel } from '#test/support/hotel.ts';
import { openSession } from '#test/support/sessions.ts';
import { openStream } from '#test/support/streams.ts';
import { eventually } from '#test/support/webhooks.ts';

const TRAFFIC = '/v1/staff/sandbox/traffic/';
const LONG_MS = 60_000;

describe('simulated guests of the demo tenant', () => {
  let plain: TestService;
  let service: TestService;
  let demo: TestHotel;

  before(async () => {
    plain = await startService();
    demo = await openDemo(plain);
    const findDemo = () => findTenantBySlug(plain.database.db, demo.document.slug);
    service = await startService({ beside: plain, findDemo });
  });
  after(async () => {
    await service.close();
    await plain.close();
  });

  const send = (node: TestService, headers: Record<string, string>, json: unknown) =>
    node.call('POST', TRAFFIC, { headers, json });
  const orders = () => entriesOf(service, '/v1/staff/orders/', demo.owner);
  const stays = () => entriesOf(service, '/v1/staff/reservations/', demo.owner);

  it('404: without a simulation, and for the owner of another tenant, no guests come; 403 for staff', async () => {
    const other = await service.tenant();
    assert.equal((await send(plain, demo.owner, { orders: 1 })).status, 404);
    assert.equal((await send(service, other.owner, { orders: 1 })).status, 404);
    assert.equal((await send(service, demo.staff, { orders: 1 })).status, 403);
    assert.equal((await service.call('GET', '/v1/staff/me/', { headers: demo.owner })).body.service.sandbox, true);
  });

  it('400: more than 50 orders or stays, or a negative number of them, are refused', async () => {
    for (const json of [{ orders: 51 }, { stays: 51 }, { orders: -1 }]) {
      assert.equal((await send(service, demo.owner, json)).status, 400);
    }
  });

  it('200: guests order and book within a minute, with the credential Demo guests, which is then in use', async () => {
    const answer = await send(service, demo.owner, { orders: 50, stays: 50 });
    assert.deepEqual([answer.status, answer.body.orders, answer.body.stays], [200, 50, 50]);
    assert.ok(Date.parse(answer.body.until) - Date.now() < 60_000);
    await eventually(
      async () => (await orders()).length >= 2 && (await stays()).length >= 2,
      'orders and stays',
      LONG_MS,
    );
    assert.deepEqual((await send(service, demo.owner, {})).body.orders, 0);
    const count = (await orders()).length;
    const credentials = await entriesOfList('/v1/staff/credentials/');
    const ofGuests = credentials.filter(({ label }) => label === 'Demo guests');
    assert.equal(ofGuests.length, 1);
    assert.ok(count < 50, 'the second call has sent the rest away');
    for (const { credential_label, total } of await orders()) {
      assert.equal(credential_label, 'Demo guests');
      assert.notEqual(total, '0.00');
    }
  });

  it('while a stream of live changes of the demo is open, a guest orders by himself', async () => {
    const earlier = (await orders()).length;
    const { headers } = await openSession(service, demo.tenantId, 'owner');
    const stream = await openStream(service.url, headers);
    await eventually(async () => (await orders()).length > earlier, 'order of a guest', LONG_MS);
    stream.close();
  });

  async function entriesOfList(path: string): Promise<{ label: string; last_used_at: string | null }[]> {
    return (await service.call('GET', path, { headers: demo.owner })).body;
  }
});
