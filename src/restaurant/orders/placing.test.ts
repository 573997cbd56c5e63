import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dishOf, dumpRows, listDishes, ORDERS, place, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { sampleMenu } from '#test/support/tenants.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const { service, tenant } = await useRestaurant();
const { price_variants, addons } = await dishOf(service, tenant, 'PIZZA-1');
const variantId = price_variants[0]?.id ?? '';
const addonId = addons[0]?.id ?? '';

async function staffOrder(id: string) {
  return (await service.call('GET', `${STAFF_ORDERS}${id}/`, { headers: tenant.staff })).body;
}

/** Places an order with the given items, valid or not. */
function order(...items: unknown[]) {
  return place(service, tenant, { items });
}

describe('POST /v1/third-party/orders/', () => {
  it('201: the response to a new order has exactly the fields of the contract', async () => {
    const answer = await place(service, tenant, { external_order_id: 'first' });
    assert.equal(answer.status, 201, answer.text);
    const { order_id, ...rest } = answer.body;
    assert.match(order_id, UUID_V7);
    assert.deepEqual(rest, { success: true, external_order_id: 'first', status: 'pending' });
    assert.equal(answer.headers.get('idempotent-replayed'), null);
  });

  it('201: a new order without optional fields is a delivery, and its other optional fields are null', async () => {
    const { body } = await place(service, tenant, { external_order_id: 'short' });
    const { created_at, order_id, ...fields } = await staffOrder(body.order_id);
    assert.equal(order_id, body.order_id);
    const { number, credential_id, credential_label, status_changed_at, history, ...kept } = fields;
    assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000);
    assert.deepEqual(kept, {
      external_order_id: 'short',
      status: 'pending',
      order_type: 'delivery',
      customer: { name: null, phone: null },
      delivery_address: null,
      notes: null,
      lines: [
        {
          sku: 'PIZZA-1',
          name: 'Margherita',
          variant: null,
          quantity: 1,
          unit_price: '10.00',
          addons: [],
          extra_tax_percentage: '7.50',
          total: '10.75',
        },
      ],
      total: '10.75',
      currency: 'EUR',
      ready_by: null,
      cancel_reason: null,
    });
  });

  it('201: a new order stores all optional fields in full length, and ignores unknown fields', async () => {
    const optional = {
      order_type: 'take_away',
      customer: { name: '🍕'.repeat(255), phone: '٣'.repeat(20) },
      delivery_address: 'Rua das Flores 1\nPorto',
      notes: `no onions; ring twice ${'!'.repeat(5_000)}`,
    };
    const answer = await place(service, tenant, {
      ...optional,
      items: [{ item_id: 'PIZZA-1', quantity: 2, variant_id: variantId, addons: [{ addon_id: addonId, quantity: 3 }] }],
      unknown: { anything: ['ignored'] },
      tenant_id: 0,
      status: 'completed',
    });
    assert.equal(answer.status, 201, answer.text);
    const { order_type, customer, delivery_address, notes, status, lines } = await staffOrder(answer.body.order_id);
    assert.deepEqual({ order_type, customer, delivery_address, notes, status }, { ...optional, status: 'pending' });
    assert.equal(lines[0].variant, 'Large');
    assert.deepEqual(lines[0].addons, [{ name: 'Extra cheese', quantity: 3, price: '1.50' }]);
  });

  it('201: an order is accepted without the name or phone of the customer, with empty texts, and with the quantity 2.0', async () => {
    for (const customer of [{}, { name: 'A' }, { phone: '1' }, { name: '', phone: '' }]) {
      assert.equal((await place(service, tenant, { customer, notes: '', delivery_address: '' })).status, 201);
    }
    const body = '{"external_order_id":"2.0","items":[{"item_id":"PIZZA-1","quantity":2.0}]}';
    const headers = { ...tenant.partner, 'content-type': 'application/json' };
    assert.equal((await service.call('POST', ORDERS, { headers, body })).status, 201);
  });

  it('201: placing an order writes no event', async () => {
    const events = await dumpRows(service, 'event');
    assert.equal((await place(service, tenant)).status, 201);
    assert.deepEqual(await dumpRows(service, 'event'), events);
  });

  const good = { item_id: 'PIZZA-1', quantity: 1 };
  for (const [changes, ...faults] of [
    [{ notes: 1, delivery_address: [] }, 'delivery_address: must be a text', 'notes: must be a text'],
    [
      { items: [{ ...good, quantity: 0 }, { quantity: 1 }], customer: { phone: 5 } },
      'items.0.quantity: must be at least 1',
      'items.1.item_id: is required',
      'customer.phone: must be a text',
    ],
  ] as [Record<string, unknown>, ...string[]][]) {
    it(`400: an order with ${JSON.stringify(changes).slice(0, 80)} is refused with "${faults[0]}"`, async () => {
      const rows = await dumpRows(service, 'restaurant_order');
      assert.deepEqual(faultsOf(await place(service, tenant, changes)).sort(), faults.sort());
      assert.deepEqual(await dumpRows(service, 'restaurant_order'), rows);
    });
  }

  for (const [body, message] of [
    ['', /^external_order_id: is required \| items: is required$/],
    ['[]', /^body: must be an object$/],
    ['null', /^body: must be an object$/],
    ['{"external_order_id":', /^body: is not valid JSON/],
    ['{"external_order_id":"a","items":[{"item_id":"PIZZA-1","quantity":1e309}]}', /^items\.0\.quantity: /],
    ['{"external_order_id":"a\\u0000","items":[]}', /^external_order_id: contains U\+0000$/],
    ['{"external_order_id":"a\\ud800","items":[]}', /^external_order_id: contains half of a surrogate pair$/],
    ['{"external_order_id":"a","customer":{"__proto__":{"name":"x"}},"items":[]}', /^customer: /],
  ] as [string, RegExp][]) {
    it(`400: an order with the JSON body '${body}' is refused`, async () => {
      const headers = { ...tenant.partner, 'content-type': 'application/json' };
      const actual = assertError(await service.call('POST', ORDERS, { headers, body }), 400, 'invalid_request');
      assert.match(actual, message);
    });
  }
});

describe('POST /v1/third-party/orders/ with items that cannot be ordered', () => {
  it("400 item_not_found: an unknown sku, an inactive dish, another tenant's dish and a sku in the wrong case are refused", async () => {
    const menu = sampleMenu();
    menu.dishes = [{ sku: 'THEIRS', name: 'Theirs', price: '1', category: 'Pizza' }];
    await service.tenant({ menu });
    const { id } = await dishOf(service, tenant, 'PIZZA-1');
    for (const item_id of ['NOTHING', 'OFF', 'THEIRS', 'pizza-1', 'PIZZA-1 ', id]) {
      const message = assertError(await order({ item_id, quantity: 1 }), 400, 'item_not_found');
      assert.match(message, /^items\.0\.item_id: /);
    }
  });

  it('400 variant_not_found: an unknown variant, or a variant of another dish, is refused', async () => {
    const [pizza] = sampleMenu().dishes;
    const menu = { ...sampleMenu(), dishes: [pizza, { ...pizza, sku: 'PIZZA-2' }] as never[] };
    const own = await service.tenant({ menu });
    const [, second] = await listDishes(service, own);
    for (const variant_id of [second?.price_variants[0]?.id, variantId, addonId, 'Large', '']) {
      const items = [{ item_id: 'PIZZA-1', quantity: 1, variant_id }];
      const message = assertError(await place(service, own, { items }), 400, 'variant_not_found');
      assert.match(message, /^items\.0\.variant_id: /);
    }
  });

  it('400 addon_not_found: an unknown or inactive add-on, or an add-on of another dish, is refused', async () => {
    const [pizza] = sampleMenu().dishes;
    const menu = { ...sampleMenu(), dishes: [pizza, { ...pizza, sku: 'PIZZA-2' }] as never[] };
    const own = await service.tenant({ menu });
    const [first, second] = await listDishes(service, own);
    const truffle = await service.call('PATCH', '/v1/staff/dishes/PIZZA-1/', {
      headers: own.staff,
      json: { price: '10' },
    });
    const { id: inactive } = truffle.body.addons.find((addon: { name: string }) => addon.name === 'Truffle');
    const longIds = ['x'.repeat(101), '𝄞'.repeat(10_000)];
    for (const addon_id of [second?.addons[0]?.id, inactive, variantId, 'Extra cheese', ...longIds]) {
      const items = [{ item_id: 'PIZZA-1', quantity: 1, addons: [{ addon_id: first?.addons[0]?.id }, { addon_id }] }];
      const message = assertError(await place(service, own, { items }), 400, 'addon_not_found');
      assert.match(message, /^items\.0\.addons\.1\.addon_id: /);
    }
  });

  it('400: if several items of an order are invalid, the response reports the first one', async () => {
    const noVariant = { item_id: 'PIZZA-1', quantity: 1, variant_id: 'none' };
    const noAddon = { item_id: 'PIZZA-1', quantity: 1, addons: [{ addon_id: 'none' }] };
    const noItem = { item_id: 'none', quantity: 1, variant_id: 'none' };
    const fine = { item_id: 'WATER', quantity: 1 };
    for (const [items, code, path] of [
      [[fine, noAddon, noVariant, noItem], 'addon_not_found', 'items.1.addons.0.addon_id: '],
      [[noVariant, noItem], 'variant_not_found', 'items.0.variant_id: '],
      [[noItem, noVariant], 'item_not_found', 'items.0.item_id: '],
    ] as [unknown[], string, string][]) {
      assert.ok(assertError(await order(...items), 400, code).startsWith(path), path);
    }
  });
});
