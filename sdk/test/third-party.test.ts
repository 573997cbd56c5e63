import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { dayAhead } from '../../test/support/hotel.ts';
import { useService } from '../../test/support/shared-service.ts';
import { causeEvent } from '../../test/support/webhooks.ts';
import { ROUTES } from '../src/generated/third-party.ts';
import { startFaultProxy } from './front.ts';
import { collect, failureOf, openPartnerTenant, water } from './partner-tenant.ts';
import { operationsCalled } from './operations.ts';

const service = await useService();
const front = await startFaultProxy(service.url);
const tenant = await openPartnerTenant(service);
const roomservice = tenant.client({ baseUrl: front.url });

after(() => front.close());

function stay(externalId: string) {
  return {
    external_reservation_id: externalId,
    room_type_id: tenant.roomTypes['Double'] ?? '',
    check_in: dayAhead(30),
    check_out: dayAhead(32),
    guest: { name: 'Ana Silva', phone: '+351 900 000 000' },
  };
}

describe('menu and orders', () => {
  test('the client lists the dishes of the menu', async () => {
    const dishes = await roomservice.menu.list();
    assert.deepEqual(dishes.map(({ sku }) => sku).sort(), ['PIZZA-1', 'WATER']);
  });

  test('the client places an order, gets the same order again for the same external id, reads it and cancels it', async () => {
    const order = water();
    const placed = await roomservice.orders.create(order);
    assert.deepEqual([placed.status, placed.isReplayed], ['pending', false]);
    const again = await roomservice.orders.create(order);
    assert.deepEqual(again, { ...placed, isReplayed: true });
    const { isReplayed, ...stored } = placed;
    assert.deepEqual(await roomservice.orders.get(order.external_order_id), stored);
    assert.equal((await roomservice.orders.cancel(order.external_order_id)).status, 'cancelled');
  });

  test('the client reads the lines and the total price of a quote, and the quote places no order', async () => {
    const { external_order_id, items } = water();
    const { lines, total, currency } = await roomservice.orders.quote({ items });
    assert.deepEqual([lines.length, lines[0]?.name, total, currency], [1, 'Water', lines[0]?.total, 'EUR']);
    assert.equal((await failureOf(roomservice.orders.get(external_order_id))).code, 'order_not_found');
  });

  test('409: while the restaurant is closed, orders and quotes fail with restaurant_closed and the seconds until the opening', async () => {
    const until = new Date(Date.now() + 40_000).toISOString();
    await service.call('POST', '/v1/staff/pause/', { headers: tenant.staff, json: { until } });
    try {
      const create = () => roomservice.orders.create(water());
      const quote = () => roomservice.orders.quote({ items: water().items });
      for (const call of [create, quote]) {
        const error = await failureOf(call());
        assert.deepEqual([error.status, error.code, error.attempts], [409, 'restaurant_closed', 1]);
        assert.ok((error.retryAfterSeconds ?? 0) > 30, String(error.retryAfterSeconds));
      }
    } finally {
      await service.call('DELETE', '/v1/staff/pause/', { headers: tenant.staff });
    }
  });

  test('an order can be read by its external id, even if the id has slashes, spaces, URL characters, or Russian or Chinese letters', async () => {
    for (const id of ['a/b?c=d&e#f', '%2F', 'наряд № 7', '注文', '...', ' ']) {
      await roomservice.orders.create({ ...water(), external_order_id: id });
      assert.equal((await roomservice.orders.get(id)).external_order_id, id);
    }
  });

  test('a cancel call with the external id "", ".", ".." or half of a surrogate pair is refused, because no URL path can hold it', async () => {
    for (const id of ['', '.', '..', 'a\ud83d']) {
      await assert.rejects(roomservice.orders.cancel(id), { name: 'TypeError', message: /^external_order_id: / });
    }
  });
});

describe('hotel and reservations', () => {
  test('the client lists the room types, and reads for one of them how many rooms can be sold on each night', async () => {
    const double = (await roomservice.hotel.rooms()).find(({ room_type_id: id }) => id === tenant.roomTypes['Double']);
    assert.equal(double?.property.name, 'Harbour House');
    const { days } = await roomservice.hotel.availability({
      room_type_id: double.room_type_id,
      check_in: dayAhead(60),
      check_out: dayAhead(62),
    });
    assert.deepEqual(days, [
      { date: dayAhead(60), sellable: 3 },
      { date: dayAhead(61), sellable: 3 },
    ]);
  });

  test('a price quote for a stay has a rate plan, nightly prices and a total, but fails with invalid_request for too many guests', async () => {
    const { external_reservation_id, guest, ...query } = stay('stay-priced');
    const quote = await roomservice.hotel.quote({ ...query, guests: 2 });
    assert.deepEqual(
      [quote.rate_plan?.name, quote.nights.map(({ price }) => price), quote.total_amount],
      ['Saver', ['80.00', '80.00'], '160.00'],
    );
    const refused = await failureOf(roomservice.hotel.quote({ ...query, guests: 3 }));
    assert.deepEqual([refused.status, refused.code], [400, 'invalid_request']);
  });

  test('the client books a stay, gets the same reservation again for the same external id, reads it and cancels it', async () => {
    const booked = await roomservice.reservations.create(stay('stay-1'));
    assert.deepEqual([booked.status, booked.total_amount, booked.isReplayed], ['confirmed', '160.00', false]);
    assert.equal((await roomservice.reservations.create(stay('stay-1'))).isReplayed, true);
    assert.equal((await roomservice.reservations.get('stay-1')).reservation_id, booked.reservation_id);
    assert.equal((await roomservice.reservations.cancel('stay-1')).status, 'cancelled');
  });
});

describe('lists', () => {
  test('a list yields every order once, newest first, and requests each page once, in order', async () => {
    const other = await openPartnerTenant(service);
    const placed: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      placed.unshift((await other.client().orders.create(water())).external_order_id);
    }
    front.requests.length = 0;
    const listed: string[] = [];
    for await (const order of other.client({ baseUrl: front.url }).orders.list({ page_size: 3 })) {
      listed.push(order.external_order_id);
    }
    assert.deepEqual(listed, placed);
    assert.deepEqual(
      front.requests,
      [1, 2, 3].map((page) => `GET /v1/third-party/orders/?page=${page}&page_size=3`),
    );
  });

  test('a list does not request its second page if the caller stops within the first page', async () => {
    for (let count = 0; count < 3; count += 1) {
      await roomservice.orders.create(water());
    }
    front.requests.length = 0;
    for await (const order of roomservice.orders.list({ page_size: 2 })) {
      assert.equal(order.status, 'pending');
      break;
    }
    assert.equal(front.requests.length, 1);
  });

  test('a list yields no order twice if new orders are created while the list is read', async () => {
    const other = (await openPartnerTenant(service)).client();
    for (let count = 0; count < 6; count += 1) {
      await other.orders.create(water());
    }
    const listed: string[] = [];
    for await (const order of other.orders.list({ page_size: 2 })) {
      listed.push(order.order_id);
      if (listed.length < 3) {
        await other.orders.create(water());
      }
    }
    assert.deepEqual([listed.length, new Set(listed).size], [6, 6]);
  });

  test('a list of reservations yields the newest reservation first', async () => {
    await roomservice.reservations.create(stay('stay-2'));
    const listed = await collect(roomservice.reservations.list());
    assert.deepEqual(
      listed.map(({ external_reservation_id: id }) => id),
      ['stay-2', 'stay-1'],
    );
  });
});

describe('the event feed', () => {
  test('the client reads all events page by page, and later continues after the cursor of the last event', async () => {
    const other = await openPartnerTenant(service);
    const orders = [];
    for (let count = 0; count < 5; count += 1) {
      orders.push((await causeEvent(service, other)).externalId);
    }
    const entries = await collect(other.client().events.iterate({ limit: 2 }));
    assert.deepEqual(
      entries.map((entry) => entry.event === 'order.status_changed' && entry.data.external_order_id),
      orders,
    );
    const { results, next } = await other.client().events.list({ limit: 4 });
    assert.equal(results.at(-1)?.cursor, next);
    const rest = await collect(other.client().events.iterate({ after: next }));
    assert.deepEqual(rest, entries.slice(4));
    assert.deepEqual(await collect(other.client().events.iterate({ after: rest[0]?.cursor ?? '' })), []);
    await roomservice.events.list();
  });
});

describe('the webhook registration', () => {
  test('the first registration of a webhook URL returns a secret, and a repeated registration returns an empty secret', async () => {
    const registration = { webhook_url: 'https://127.0.0.1:9/hook' };
    assert.match((await roomservice.webhook.register(registration)).webhook_secret, /.{20,}/);
    assert.equal((await roomservice.webhook.register(registration)).webhook_secret, '');
  });
});

describe('errors of the service', () => {
  test("400, 401, 403, 404, 409: a refused call fails with the service's error code and is not retried, and its error has a message and a request id", async () => {
    const wrong = await failureOf(tenant.client({ apiSecret: 'wrong' }).menu.list());
    assert.deepEqual([wrong.status, wrong.code, wrong.attempts], [401, 'invalid_credentials', 1]);
    const { api_key: apiKey, api_secret: apiSecret } = (await service.tenant()).credential;
    const forbidden = await failureOf(tenant.client({ apiKey, apiSecret }).hotel.rooms());
    assert.deepEqual([forbidden.status, forbidden.code, forbidden.attempts], [403, 'error', 1]);
    const unknown = { ...water(), items: [{ item_id: 'NONE', quantity: 1 }] };
    const refused = await failureOf(roomservice.orders.create(unknown));
    assert.deepEqual([refused.status, refused.code], [400, 'item_not_found']);
    const missing = await failureOf(roomservice.orders.get('none'));
    assert.deepEqual([missing.status, missing.code, missing.attempts], [404, 'order_not_found', 1]);
    assert.match(missing.message, /\S/);
    assert.match(missing.requestId ?? '', /\S/);
    const suite = { ...stay('stay-3'), room_type_id: tenant.roomTypes['Suite'] ?? '' };
    await roomservice.reservations.create(suite);
    const full = await failureOf(roomservice.reservations.create({ ...suite, external_reservation_id: 'stay-4' }));
    assert.deepEqual([full.status, full.code, full.retryAfterSeconds], [409, 'room_not_available', null]);
  });
});

test('every third-party operation in the SDK has a client method, and a test of this file calls the method', () => {
  assert.deepEqual(operationsCalled(ROUTES, front.requestsEver), Object.keys(ROUTES).sort());
});
