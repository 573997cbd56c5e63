import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newCertificateFile, type Serving, startServingProgram } from './support/command.ts';
import { book, openHotel, reservationPath } from './support/hotel.ts';
import { invite, NEW_PASSWORD, signInForToken } from './support/people.ts';
import { checkOut, OLDEST, reasonWithout } from './support/previous-version.ts';
import { startReceiver } from './support/receiver.ts';
import { callUnchecked } from './support/http.ts';
import { startService, type TestService } from './support/service.ts';
import { OWNER_PASSWORD } from './support/tenants.ts';
import { moveOrder, onlyDelivery, placeOrder, register } from './support/webhooks.ts';

const skip = reasonWithout(OLDEST) ?? false;

describe('the previous version on the database of this version', { skip }, () => {
  let service: TestService;
  let previous: Serving;
  /** A copy of `service` whose calls go to the process of the previous version. */
  let remote: TestService;
  let certificate: Awaited<ReturnType<typeof newCertificateFile>>;

  before(async () => {
    service = await startService();
    certificate = await newCertificateFile();
    const env = {
      DATABASE_URL: service.database.url,
      MASTER_KEY: service.masterKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      NODE_EXTRA_CA_CERTS: certificate.path,
    };
    previous = await startServingProgram([], { env, program: await checkOut(OLDEST) });
    // `callUnchecked` does not compare responses with the OpenAPI documents, which are those of this version. Responses of the previous
    // version may lack newer fields.
    remote = { ...service, call: (...request) => callUnchecked(previous.url, ...request) };
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('401: the previous version refuses the sign-in of a person whom this version has invited and who has no password yet', async () => {
    const tenant = await service.tenant();
    const { email } = (await invite(service, tenant)).body.person;
    for (const password of ['null', NEW_PASSWORD]) {
      const answer = await remote.call('POST', '/v1/auth/token/', { json: { email, password } });
      assert.equal(answer.status, 401, answer.text);
    }
  });

  it('the previous version starts on the database of this version, and its output says that a newer version has migrated the database', () => {
    assert.match(previous.output(), /was migrated by a newer version \(0020_/);
  });

  it('201, 200: the previous version places an order, changes its status and delivers the event, and then this version changes the status of this order too', async (t) => {
    const receiver = await startReceiver({ certificate: certificate.certificate });
    t.after(() => receiver.close());
    const tenant = await service.tenant();
    await register(remote, tenant.partner, receiver.url);
    const { orderId } = await placeOrder(remote, tenant.partner);
    // The key of the tokens differs from version to version, so people sign in to each of them.
    const { email = '' } = tenant.document.users?.[0] ?? {};
    const { body: tokens } = await signInForToken(remote, email, OWNER_PASSWORD);
    const bearer = { authorization: `Bearer ${tokens.access_token}` };
    const there = { ...tenant, owner: bearer, staff: bearer };
    await moveOrder(remote, there, orderId, 'confirmed');
    const { attempts } = await onlyDelivery(remote, there, 'delivered');
    assert.deepEqual([attempts.length, receiver.requests.length], [1, 1]);
    const change = { headers: tenant.staff, json: { status: 'preparing', request_id: randomUUID() } };
    const send = () => service.call('POST', `/v1/staff/orders/${orderId}/status/`, change);
    assert.deepEqual([(await send()).status, (await send()).status], [200, 200]);
    await moveOrder(remote, there, orderId, 'ready');
    const read = () => service.call('GET', `/v1/staff/orders/${orderId}/`, { headers: tenant.staff });
    const { body: unknown } = await read();
    assert.deepEqual([unknown.status, unknown.status_changed_at, unknown.history], ['ready', null, null]);
    await moveOrder(service, tenant, orderId, 'completed');
    const { body: known } = await read();
    assert.deepEqual([known.status, typeof known.status_changed_at, known.history], ['completed', 'string', null]);
  });

  it('200: if the previous version places an order, the list of this version finds the order by its name, phone, status and external id, and its history is complete', async () => {
    const tenant = await service.tenant();
    const customer = { name: 'Inês Duarte', phone: '+351 912 345 678' };
    const json = { external_order_id: 'searched', items: [{ item_id: 'WATER', quantity: 1 }], customer };
    const { body } = await remote.call('POST', '/v1/third-party/orders/', { headers: tenant.partner, json });
    const list = (query: string) => service.call('GET', `/v1/staff/orders/?${query}`, { headers: tenant.staff });
    for (const query of ['name=ines', 'phone=351912345678', 'open=true', 'external_order_id=searched']) {
      const [order] = (await list(query)).body.results;
      assert.equal(order?.order_id, body.order_id, query);
    }
    await moveOrder(service, tenant, body.order_id, 'ready');
    const { body: order } = await service.call('GET', `/v1/staff/orders/${body.order_id}/`, { headers: tenant.staff });
    assert.deepEqual(
      order.history.map(({ status }: { status: string }) => status),
      ['pending', 'ready'],
    );
  });

  it('201, 200: the previous version books a stay, and then this version cancels this stay', async () => {
    const hotel = await openHotel(service);
    const booked = await book(remote, hotel, { external_reservation_id: 'stay of the previous version' });
    assert.equal(booked.status, 201, booked.text);
    const path = reservationPath('stay of the previous version', 'cancel/');
    assert.equal((await service.call('POST', path, { headers: hotel.partner })).status, 200);
  });
});
