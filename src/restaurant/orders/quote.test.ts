import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dumpRows, listDishes, orderPath, ORDERS, place, STAFF_ORDERS } from '#test/support/restaurant.ts';
import type { CallOptions } from '#test/support/http.ts';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import type { Dish } from '../menu/menu.ts';

const QUOTE = `${ORDERS}quote/`;
/** Number of random orders that the test both quotes and places. */
const CASES = 300;
/** Seed of the random orders, so that each run tests the same orders. */
const SEED = 25;

const { service, tenant } = await useRestaurant();
const dish = (await listDishes(service, tenant)).find(({ sku }) => sku === 'PIZZA-1');
assert.ok(dish);
const pizza = dish;

const quote = (json: object, of: Pick<TestTenant, 'partner'> = tenant, options: CallOptions = {}) =>
  service.call('POST', QUOTE, { headers: of.partner, json, ...options });
const ONE = { items: [{ item_id: 'PIZZA-1', quantity: 1 }] };

function itemsOf(dishes: Dish[]): fc.Arbitrary<object[]> {
  const item = fc.constantFrom(...dishes).chain(({ sku, price_variants, addons }) =>
    fc.record(
      {
        item_id: fc.constant(sku),
        quantity: fc.integer({ min: 1, max: 40 }),
        ...(price_variants.length > 0 && { variant_id: fc.constantFrom(...price_variants.map(({ id }) => id)) }),
        ...(addons.length > 0 && {
          addons: fc.array(
            fc.record(
              { addon_id: fc.constantFrom(...addons.map(({ id }) => id)), quantity: fc.integer({ min: 1, max: 9 }) },
              { requiredKeys: ['addon_id'] },
            ),
            { maxLength: 3 },
          ),
        }),
      },
      { requiredKeys: ['item_id', 'quantity'] },
    ),
  );
  return fc.array(item, { minLength: 1, maxLength: 5 });
}

describe('POST /v1/third-party/orders/quote/', () => {
  it('200: a quote has the lines as staff see them, the total and the currency, and writes no row', async () => {
    const rows = await dumpRows(service, 'restaurant_order', 'event', 'audit_entry');
    const [addon] = pizza.addons;
    const answer = await quote({
      items: [
        { item_id: 'PIZZA-1', quantity: 2, variant_id: pizza.price_variants[0]?.id, addons: [{ addon_id: addon?.id }] },
        { item_id: 'WATER', quantity: 1 },
      ],
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, {
      lines: [
        {
          sku: 'PIZZA-1',
          name: 'Margherita',
          variant: 'Large',
          quantity: 2,
          unit_price: '13.00',
          addons: [{ name: 'Extra cheese', quantity: 1, price: '1.50' }],
          extra_tax_percentage: '7.50',
          total: '31.18',
        },
        {
          sku: 'WATER',
          name: 'Water',
          variant: null,
          quantity: 1,
          unit_price: '2.50',
          addons: [],
          extra_tax_percentage: '0.00',
          total: '2.50',
        },
      ],
      total: '33.68',
      currency: 'EUR',
    });
    assert.deepEqual(await dumpRows(service, 'restaurant_order', 'event', 'audit_entry'), rows);
  });

  it(`200: a quote and the order of the same items agree on the lines and the total, for ${CASES} random orders`, async () => {
    const dishes = await listDishes(service, tenant);
    let compared = 0;
    const agrees = fc.asyncProperty(itemsOf(dishes), async (items) => {
      const { body: quoted } = await quote({ items });
      const placed = await place(service, tenant, { items, external_order_id: `quoted ${compared}` });
      assert.equal(placed.status, 201, placed.text);
      const path = `${STAFF_ORDERS}${placed.body.order_id}/`;
      const { lines, total, currency } = (await service.call('GET', path, { headers: tenant.staff })).body;
      assert.deepEqual(quoted, { lines, total, currency });
      compared += 1;
    });
    await fc.assert(agrees, { numRuns: CASES, seed: SEED, endOnFailure: true });
    assert.equal(compared, CASES);
  });

  it('200: the fields of an order that have no influence on the price are accepted, and unknown fields are ignored', async () => {
    const { body: plain } = await quote(ONE);
    const more = {
      order_type: 'pick_up',
      customer: { name: 'Ana', phone: '1' },
      delivery_address: 'a',
      notes: 'n',
      external_order_id: 7,
      unknown: true,
    };
    const { body, status } = await quote({ ...ONE, ...more });
    assert.deepEqual([status, body], [200, plain]);
    const form = new URLSearchParams({ 'items[0][item_id]': 'PIZZA-1', 'items[0][quantity]': '1' });
    const ofForm = await service.call('POST', QUOTE, { headers: tenant.partner, body: form });
    assert.deepEqual([ofForm.status, ofForm.body], [200, plain]);
    const withoutSlash = await service.call('POST', QUOTE.slice(0, -1), { headers: tenant.partner, json: ONE });
    assert.deepEqual([withoutSlash.status, withoutSlash.body], [200, plain]);
  });

  it('200: a quote of an order that exists prices it again, and does not return the stored order', async () => {
    await place(service, tenant, { external_order_id: 'quoted again' });
    const { status, body } = await quote({ ...ONE, external_order_id: 'quoted again' });
    assert.deepEqual([status, Object.keys(body)], [200, ['lines', 'total', 'currency']]);
  });

  it('400: an invalid quote gets the same error as an invalid order', async () => {
    for (const changes of [
      { items: [{ item_id: 'GONE', quantity: 1 }] },
      { items: [{ item_id: 'OFF', quantity: 1 }] },
      { items: [{ item_id: 'PIZZA-1', quantity: 1, variant_id: 'x' }] },
      { items: [{ item_id: 'PIZZA-1', quantity: 1, addons: [{ addon_id: 'x' }] }] },
      { items: [{ item_id: 'PIZZA-1', quantity: 2_147_483_647 }] },
      { items: [] },
      { items: [{ item_id: 'PIZZA-1', quantity: 0 }], order_type: 'x', notes: 7 },
      { items: [{ item_id: 'PIZZA-1' }], customer: { phone: '1'.repeat(21) } },
    ]) {
      const [quoted, placed] = [await quote(changes), await place(service, tenant, changes)];
      assert.deepEqual([quoted.status, quoted.body], [400, placed.body]);
    }
    assert.deepEqual(faultsOf(await quote({})), ['items: is required']);
  });

  it('409: while the restaurant is closed, a quote gets restaurant_closed; 400: but an invalid item is reported first', async () => {
    const own = await service.tenant();
    const until = new Date(Date.now() + 60_000).toISOString();
    await service.call('POST', '/v1/staff/pause/', { headers: own.staff, json: { until } });
    const refused = await quote(ONE, own);
    assertError(refused, 409, 'restaurant_closed');
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 50 && seconds <= 60, String(seconds));
    assertError(await quote({ items: [{ item_id: 'GONE', quantity: 1 }] }, own), 400, 'item_not_found');
  });

  it('429: each quote counts as one call in the budget of the credential', async () => {
    const limited = await startService({ beside: service, config: { rateLimitPerMinute: 2 } });
    try {
      const { partner } = await service.credential(tenant.tenantId);
      const send = () => limited.call('POST', QUOTE, { headers: partner, json: ONE });
      const answers = [await send(), await send(), await send()];
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get('x-ratelimit-remaining')]),
        [
          [200, '1'],
          [200, '0'],
          [429, '0'],
        ],
      );
    } finally {
      await limited.close();
    }
  });
});

describe('GET /v1/third-party/orders/quote/', () => {
  it('200: an order with the external id "quote" can be read and cancelled; 404: a GET before this order exists is refused', async () => {
    const own = await service.tenant();
    const read = () => service.call('GET', QUOTE, { headers: own.partner });
    assertError(await read(), 404, 'order_not_found');
    const { body: order } = await place(service, own, { external_order_id: 'quote' });
    assert.deepEqual([(await read()).status, (await read()).body], [200, order]);
    const cancelled = await service.call('POST', orderPath('quote', 'cancel/'), { headers: own.partner });
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled']);
    assert.equal((await service.call('HEAD', QUOTE, { headers: own.partner })).status, 200);
  });
});
