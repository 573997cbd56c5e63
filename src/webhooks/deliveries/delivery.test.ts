import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type ReceivedRequest, type Receiver, startReceiver } from '#test/support/receiver.ts';
import { type ServiceOptions, startService, type TestService, type TestTenant } from '#test/support/service.ts';
import {
  causeEvent,
  eventually,
  isSignedWith,
  listDeliveries,
  moveOrder,
  onlyDelivery,
  placeOrder,
  register,
} from '#test/support/webhooks.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function bodyOf(request: ReceivedRequest | undefined) {
  return JSON.parse(String(request?.rawBody));
}

describe('the delivery of an event', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenant: TestTenant;
  let secret: string;

  before(async () => {
    service = await startService({ worker: true });
    receiver = await startReceiver();
    tenant = await service.tenant();
    secret = await register(service, tenant.partner, `${receiver.url}?key=a%20b`);
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });

  async function requestsAbout(externalId: string, count: number): Promise<ReceivedRequest[]> {
    const about = () => receiver.requests.filter((request) => bodyOf(request).data.external_order_id === externalId);
    return await eventually(() => about().length >= count && about(), `${count} requests about ${externalId}`);
  }

  it('each of five status changes of an order is sent once, and the creation of the order is not sent', async () => {
    const { orderId, externalId } = await placeOrder(service, tenant.partner);
    const statuses = ['confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed'];
    for (const status of statuses) {
      await moveOrder(service, tenant, orderId, status);
    }
    const requests = await requestsAbout(externalId, statuses.length);
    const sent = requests.map((request): string => bodyOf(request).data.status);
    assert.deepEqual(sent.sort(), statuses.sort());
    assert.equal(new Set(requests.map((request) => bodyOf(request).event_id)).size, statuses.length);
  });

  it('the body of a delivery is compact JSON with exactly the fields of the contract, and the signature covers its bytes', async () => {
    const name = 'Ördér "7" \\ 👍 <&>';
    const { orderId } = await placeOrder(service, tenant.partner, name);
    await moveOrder(service, tenant, orderId, 'preparing');
    const [request] = await requestsAbout(name, 1);
    assert.ok(request);
    const { event_id: eventId, occurred_at: occurredAt } = bodyOf(request);
    const data = `{"order_id":"${orderId}","external_order_id":${JSON.stringify(name)},"status":"preparing"}`;
    const event = `{"event":"order.status_changed","event_id":"${eventId}","occurred_at":"${occurredAt}","data":${data}}`;
    assert.equal(request.rawBody.toString(), event);
    assert.match(eventId, UUID);
    assert.match(occurredAt, ISO_TIME);
    assert.equal(request.method, 'POST');
    assert.equal(request.path, '/hook?key=a%20b');
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['content-length'], String(request.rawBody.length));
    assert.equal(request.headers['x-service-event-id'], eventId);
    assert.match(String(request.headers['x-service-timestamp']), /^\d{10}$/);
    assert.match(String(request.headers['x-service-signature']), /^sha256=[0-9a-f]{64}$/);
    assert.equal(isSignedWith(secret, request), true);
    assert.equal(isSignedWith(`${secret}x`, request), false);
    assert.equal(
      isSignedWith(secret, { ...request, rawBody: Buffer.concat([request.rawBody, Buffer.from(' ')]) }),
      false,
    );
    const ageSeconds = request.at / 1000 - Number(request.headers['x-service-timestamp']);
    assert.ok(ageSeconds >= 0 && ageSeconds < 60, `the request was signed ${ageSeconds} s before it arrived`);
  });

  it('if the partner cancels its order, an event with the status cancelled is sent', async () => {
    const { externalId } = await placeOrder(service, tenant.partner);
    const answer = await service.call('POST', `/v1/third-party/orders/${externalId}/cancel/`, {
      headers: tenant.partner,
    });
    assert.equal(answer.status, 200, answer.text);
    const [request] = await requestsAbout(externalId, 1);
    assert.equal(bodyOf(request).data.status, 'cancelled');
  });

  it('six concurrent changes of an order to the same status cause one event, and a repeated creation of the order causes no event', async () => {
    const mine = await service.tenant();
    await register(service, mine.partner, receiver.url);
    const { orderId, externalId } = await placeOrder(service, mine.partner);
    const status = async () =>
      (
        await service.call('POST', `/v1/staff/orders/${orderId}/status/`, {
          headers: mine.staff,
          json: { status: 'confirmed' },
        })
      ).status;
    const answers = await Promise.all(Array.from({ length: 6 }, status));
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      [200, 409, 409, 409, 409, 409],
    );
    const again = await service.call('POST', '/v1/third-party/orders/', {
      headers: mine.partner,
      json: { external_order_id: externalId, items: [{ item_id: 'WATER', quantity: 1 }] },
    });
    assert.equal(again.status, 200);
    await onlyDelivery(service, mine, 'delivered');
    assert.equal((await requestsAbout(externalId, 1)).length, 1);
  });

  it('the event goes to the webhook of the credential that placed the order, signed with the secret of that credential', async (t) => {
    const other = await service.credential(tenant.tenantId);
    const elsewhere = await startReceiver();
    t.after(() => elsewhere.close());
    const otherSecret = await register(service, other.partner, elsewhere.url);
    const mine = await causeEvent(service, tenant);
    const theirs = await causeEvent(service, tenant, other.partner);
    const [here] = await requestsAbout(mine.externalId, 1);
    const [there] = await elsewhere.waitFor(1);
    assert.ok(here && there);
    assert.equal(bodyOf(there).data.external_order_id, theirs.externalId);
    assert.equal(isSignedWith(otherSecret, there), true);
    assert.equal(isSignedWith(secret, here), true);
    assert.equal(elsewhere.requests.length, 1);
  });

  it('an event that was written before a webhook was registered is kept, but is never sent', async () => {
    const mine = await service.tenant();
    const early = await causeEvent(service, mine);
    await register(service, mine.partner, receiver.url);
    const late = await causeEvent(service, mine);
    await onlyDelivery(service, mine, 'delivered');
    const rows = await service.database.db
      .selectFrom('event')
      .leftJoin('delivery', (join) =>
        join.onRef('delivery.tenant_id', '=', 'event.tenant_id').onRef('delivery.id', '=', 'event.id'),
      )
      .select(['type', 'body', 'status'])
      .where('event.tenant_id', '=', mine.tenantId)
      .orderBy('event.id')
      .execute();
    assert.deepEqual(
      rows.map((row) => [row.type, row.status, JSON.parse(row.body).data.external_order_id]),
      [
        ['order.status_changed', null, early.externalId],
        ['order.status_changed', 'delivered', late.externalId],
      ],
    );
    assert.ok(receiver.requests.every((request) => !request.rawBody.includes(early.externalId)));
  });
});

describe('the delivery of an event with settings other than the defaults', () => {
  let receiver: Receiver;
  const services: TestService[] = [];

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    for (const service of services.splice(0).reverse()) {
      await service.close();
    }
    await receiver.close();
  });

  async function start(options: ServiceOptions): Promise<TestService> {
    const service = await startService(options);
    services.push(service);
    return service;
  }

  it('the three headers of a delivery have the configured brand in their names', async () => {
    const service = await start({ worker: true, config: { webhookHeaderBrand: 'Harbour-9' } });
    const tenant = await service.tenant();
    const secret = await register(service, tenant.partner, receiver.url);
    await causeEvent(service, tenant);
    const [request] = await receiver.waitFor(1);
    assert.ok(request);
    const own = Object.keys(request.headers).filter((name) => name.startsWith('x-'));
    assert.deepEqual(own.sort(), ['x-harbour-9-event-id', 'x-harbour-9-signature', 'x-harbour-9-timestamp']);
    assert.equal(request.headers['x-harbour-9-event-id'], bodyOf(request).event_id);
    assert.equal(isSignedWith(secret, request, 'harbour-9'), true);
  });

  it('a delivery to a private address fails five times without a connection if private networks are not allowed', async () => {
    const config = { webhookAllowPrivateNetwork: false };
    const service = await start({ worker: { drawWaitMs: () => 0 }, config });
    const tenant = await service.tenant();
    await register(service, tenant.partner, receiver.url);
    await causeEvent(service, tenant);
    const delivery = await onlyDelivery(service, tenant, 'failed');
    assert.deepEqual(
      delivery.attempts.map(({ http_status: status, error }) => [status, error]),
      Array.from({ length: 5 }, () => [null, 'address_refused']),
    );
    assert.equal(receiver.connectionCount, 0);
  });

  it('a delivery waits while only processes without a worker run, and is sent after a process with a worker starts', async () => {
    const api = await start({});
    const tenant = await api.tenant();
    await register(api, tenant.partner, receiver.url);
    await causeEvent(api, tenant);
    const [waiting] = await listDeliveries(api, tenant);
    assert.deepEqual([waiting?.status, waiting?.attempts], ['pending', []]);
    await start({ beside: api, worker: true });
    await onlyDelivery(api, tenant, 'delivered');
    assert.equal(receiver.requests.length, 1);
  });
});
