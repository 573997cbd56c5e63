import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestHotel } from '#test/support/hotel.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { dumpRows, listDishes, setOrderStatus, orderPath, place } from '#test/support/restaurant.ts';
import { eventsOfSubject, openDemo, startSandboxWorker, reportedStatuses } from '#test/support/sandbox.ts';
import { useService } from '#test/support/shared-service.ts';
import { eventually, isSignedWith, placeOrder, register } from '#test/support/webhooks.ts';

const service = await useService();

/**
 * Speed of the sandbox: simulated seconds in one real second. A delivery order of one portion is then completed after about three seconds.
 */
const SPEED = 600;
/** Longest time in milliseconds that a test waits for an expected change. It is long, because the machine may be busy. */
const SETTLE_MS = 60_000;
const DELIVERED = ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'];

describe('sandbox kitchen', { concurrency: true }, () => {
  async function order(tenant: TestHotel, sku = 'STARTERS-PAPADOM', changes: Record<string, unknown> = {}) {
    const answer = await place(service, tenant, { items: [{ item_id: sku, quantity: 1 }], ...changes });
    assert.equal(answer.status, 201, answer.text);
    return { id: answer.body.order_id as string, externalId: answer.body.external_order_id as string };
  }

  const statusOf = async (tenant: TestHotel, externalId: string): Promise<string> =>
    (await service.call('GET', orderPath(externalId), { headers: tenant.partner })).body.status;

  const reaches = (tenant: TestHotel, externalId: string, status: string) =>
    eventually(async () => (await statusOf(tenant, externalId)) === status, `order that is ${status}`, SETTLE_MS);

  it('the sandbox gives a delivery order every status, one after the other, and each status causes one signed webhook event', async (t) => {
    const tenant = await openDemo(service);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const secret = await register(service, tenant.partner, receiver.url);
    const { externalId } = await order(tenant);
    startSandboxWorker(t, service, tenant, SPEED);
    await reaches(tenant, externalId, 'completed');
    assert.deepEqual(await reportedStatuses(service, tenant, externalId), DELIVERED);
    // The tests run at the same time on one database, and the webhook worker of each test sends the events of all tests. The worker of
    // another test may have sent an event of this test, and then stopped before it stored the outcome. Then another worker sends the event
    // again. So the test counts requests with the same body as one request.
    const received = () => new Set(receiver.requests.map(({ rawBody }) => String(rawBody)));
    await eventually(() => received().size === DELIVERED.length, 'delivery of each', SETTLE_MS);
    const statuses = [...received()].map((body) => JSON.parse(body).data.status);
    assert.deepEqual(new Set(statuses), new Set(DELIVERED));
    assert.ok(receiver.requests.every((request) => isSignedWith(secret, request)));
  });

  it('the sandbox completes pick-up and take-away orders without the status out_for_delivery', async (t) => {
    const tenant = await openDemo(service);
    startSandboxWorker(t, service, tenant, SPEED);
    for (const { externalId } of await Promise.all(
      ['pick_up', 'take_away'].map((order_type) => order(tenant, undefined, { order_type })),
    )) {
      await reaches(tenant, externalId, 'completed');
      assert.deepEqual(await reportedStatuses(service, tenant, externalId), [
        'confirmed',
        'preparing',
        'ready',
        'completed',
      ]);
    }
  });

  it('an order of the dish SANDBOX-SLOW-KITCHEN is ready only after 40 simulated minutes, and is then completed', async (t) => {
    const tenant = await openDemo(service);
    const placedAt = Date.now();
    const { externalId } = await order(tenant, 'SANDBOX-SLOW-KITCHEN');
    startSandboxWorker(t, service, tenant, SPEED);
    await reaches(tenant, externalId, 'completed');
    const events = await eventsOfSubject(service, tenant, externalId);
    const ready = events.find(({ data }) => data['status'] === 'ready');
    const readyAfterMs = Date.parse(ready?.occurred_at ?? '') - placedAt;
    assert.ok(readyAfterMs > (40 * 60_000) / SPEED, `${readyAfterMs} ms`);
    assert.deepEqual(
      events.map(({ data }) => data['status']),
      DELIVERED,
    );
  });

  it('the sandbox rejects orders of the dish SANDBOX-REJECTED, cancels confirmed orders of the dish SANDBOX-CANCELLED, and does not change orders of the dish SANDBOX-UNANSWERED', async (t) => {
    const tenant = await openDemo(service);
    const wanted: [string, string[]][] = [
      ['SANDBOX-CANCELLED', ['confirmed', 'cancelled']],
      ['SANDBOX-REJECTED', ['cancelled']],
      ['SANDBOX-UNANSWERED', []],
    ];
    const placed = await Promise.all(wanted.map(([sku]) => order(tenant, sku)));
    const ordinary = await order(tenant);
    startSandboxWorker(t, service, tenant, SPEED);
    await reaches(tenant, ordinary.externalId, 'completed');
    for (const [index, [sku, statuses]] of wanted.entries()) {
      const externalId = placed[index]?.externalId ?? '';
      assert.deepEqual(await reportedStatuses(service, tenant, externalId), statuses, sku);
      assert.equal(await statusOf(tenant, externalId), statuses.at(-1) ?? 'pending');
    }
  });

  it('400: an order of SANDBOX-SOLD-OUT is refused, and the demo menu lists the other four SANDBOX dishes but not this dish', async () => {
    const tenant = await openDemo(service);
    const skus = (await listDishes(service, tenant)).map(({ sku }) => sku).filter((sku) => sku.startsWith('SANDBOX-'));
    assert.deepEqual(skus, ['SANDBOX-SLOW-KITCHEN', 'SANDBOX-REJECTED', 'SANDBOX-CANCELLED', 'SANDBOX-UNANSWERED']);
    const answer = await place(service, tenant, { items: [{ item_id: 'SANDBOX-SOLD-OUT', quantity: 1 }] });
    assert.deepEqual([answer.status, answer.body.code], [400, 'item_not_found']);
  });

  it('the sandbox continues an order from a status that staff set, but does not change an order that the partner cancelled', async (t) => {
    const tenant = await openDemo(service);
    const [moved, cancelled] = [await order(tenant), await order(tenant)];
    assert.equal((await setOrderStatus(service, tenant, moved.id, 'ready')).status, 200);
    const answer = await service.call('POST', orderPath(cancelled.externalId, 'cancel/'), { headers: tenant.partner });
    assert.equal(answer.status, 200, answer.text);
    startSandboxWorker(t, service, tenant, SPEED);
    await reaches(tenant, moved.externalId, 'completed');
    assert.deepEqual(await reportedStatuses(service, tenant, moved.externalId), [
      'ready',
      'out_for_delivery',
      'completed',
    ]);
    assert.deepEqual(await reportedStatuses(service, tenant, cancelled.externalId), ['cancelled']);
  });

  it('the sandbox does not change the order of another tenant', async (t) => {
    const [tenant, other] = [await openDemo(service), await service.tenant()];
    const { orderId } = await placeOrder(service, other.partner);
    const rowOf = async () => (await dumpRows(service, 'restaurant_order')).filter((row) => row.includes(orderId));
    const placed = await rowOf();
    const { externalId } = await order(tenant);
    startSandboxWorker(t, service, tenant, 100_000);
    await reaches(tenant, externalId, 'completed');
    assert.deepEqual([placed.length, await rowOf()], [1, placed]);
  });

  it('if two sandboxes run at the same time, each order gets each status once, and no warning is logged', async (t) => {
    const tenant = await openDemo(service);
    const lines: string[] = [];
    const orders = await Promise.all(Array.from({ length: 20 }, () => order(tenant)));
    for (let count = 0; count < 2; count += 1) {
      startSandboxWorker(t, service, tenant, 5_000, { onLog: (line) => lines.push(line) });
    }
    for (const { externalId } of orders) {
      await reaches(tenant, externalId, 'completed');
    }
    for (const { externalId } of orders) {
      assert.deepEqual(await reportedStatuses(service, tenant, externalId), DELIVERED);
    }
    assert.deepEqual(
      lines.filter((line) => JSON.parse(line).level > 30),
      [],
    );
  });
});
