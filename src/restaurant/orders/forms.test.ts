import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dishOf, ORDERS, STAFF_ORDERS } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';

const { service, tenant } = await useRestaurant();
const addonId = (await dishOf(service, tenant, 'PIZZA-1')).addons[0]?.id ?? '';

type Fields = Record<string, string>;

const ENCODINGS: Record<string, (fields: Fields) => URLSearchParams | FormData> = {
  'a form': (fields) => new URLSearchParams(fields),
  multipart(fields) {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      data.set(name, value);
    }
    return data;
  },
};

for (const [encoding, encode] of Object.entries(ENCODINGS)) {
  describe(`POST /v1/third-party/orders/ as ${encoding}`, () => {
    let count = 0;
    const post = (fields: Fields) => {
      count += 1;
      const body = encode({ external_order_id: `${encoding} ${count}`, ...fields });
      return service.call('POST', ORDERS, { headers: tenant.partner, body });
    };
    const items = () => [
      { item_id: 'PIZZA-1', quantity: 2, addons: [{ addon_id: addonId, quantity: 3 }] },
      { item_id: 'WATER', quantity: 1 },
    ];

    const spellings: Record<string, () => Fields> = {
      'all names in brackets': () => ({
        'items[0][item_id]': 'PIZZA-1',
        'items[0][quantity]': '2',
        'items[0][addons][0][addon_id]': addonId,
        'items[0][addons][0][quantity]': '3',
        'items[1][item_id]': 'WATER',
        'items[1][quantity]': '1',
        'customer[name]': 'Ana',
      }),
      'dots, and gaps in the indices': () => ({
        'items[7].item_id': 'WATER',
        'items[7].quantity': '1',
        'items[3].item_id': 'PIZZA-1',
        'items[3].quantity': '2',
        'items[3].addons[5].addon_id': addonId,
        'items[3].addons[5].quantity': '3',
        'customer.name': 'Ana',
      }),
      'names directly after brackets': () => ({
        'items[0]item_id': 'PIZZA-1',
        'items[0]quantity': '2',
        'items[0]addons[0]addon_id': addonId,
        'items[0]addons[0]quantity': '3',
        'items[1]item_id': 'WATER',
        'items[1]quantity': '1',
        customer: '{"name":"Ana"}',
      }),
      'items as one field of JSON': () => ({ items: JSON.stringify(items()), 'customer.name': 'Ana' }),
      'add-ons as one field of JSON': () => ({
        'items[0].item_id': 'PIZZA-1',
        'items[0].quantity': '2',
        'items[0].addons': JSON.stringify(items()[0]?.addons),
        'items[1].item_id': 'WATER',
        'items[1].quantity': '1',
        'customer.name': 'Ana',
      }),
    };
    for (const [spelling, fields] of Object.entries(spellings)) {
      it(`201: an order sent as ${encoding} is accepted if its nested fields are written as: ${spelling}`, async () => {
        const answer = await post({ ...fields(), order_type: 'pick_up', notes: 'a+b & c=d\r\n%41' });
        assert.equal(answer.status, 201, answer.text);
        const path = `${STAFF_ORDERS}${answer.body.order_id}/`;
        const { body } = await service.call('GET', path, { headers: tenant.staff });
        assert.deepEqual(
          body.lines.map((line: { sku: string; quantity: number }) => [line.sku, line.quantity]),
          [
            ['PIZZA-1', 2],
            ['WATER', 1],
          ],
        );
        assert.deepEqual(body.lines[0].addons, [{ name: 'Extra cheese', quantity: 3, price: '1.50' }]);
        assert.deepEqual([body.customer.name, body.order_type, body.notes], ['Ana', 'pick_up', 'a+b & c=d\r\n%41']);
      });
    }

    for (const [fields, fault] of [
      [{}, 'items: is required'],
      [{ items: 'PIZZA-1' }, 'items: must be a list'],
      [{ 'items[0][item_id]': 'PIZZA-1', 'items[0][quantity]': '2.0' }, 'items.0.quantity: must be a whole number'],
      [{ 'items[0][item_id]': 'PIZZA-1', 'items[0][quantity]': '' }, 'items.0.quantity: must be a whole number'],
      [{ 'items[0][item_id]': 'PIZZA-1', 'items[0][quantity]': '-1' }, 'items.0.quantity: must be at least 1'],
      [{ items: '[{"item_id":"PIZZA-1","quantity":"2"}]' }, 'items.0.quantity: must be a whole number'],
      [{ 'items[item_id]': 'PIZZA-1' }, 'items: must be a list'],
      [{ 'items[1001][item_id]': 'PIZZA-1' }, 'items: has an index above 1000'],
    ] as [Fields, string][]) {
      it(`400: an order sent as ${encoding} with the fields ${JSON.stringify(fields)} is refused`, async () =>
        assert.deepEqual(faultsOf(await post(fields)), [fault]));
    }

    it(`400: an order sent as ${encoding} with an item that is not on the menu is refused`, async () => {
      const fields = { 'items[0].item_id': 'NONE', 'items[0].quantity': '1' };
      assertError(await post(fields), 400, 'item_not_found');
    });
  });
}

describe('POST /v1/third-party/orders/ as multipart', () => {
  it('400: an order sent as multipart is refused if it contains a file', async () => {
    const body = new FormData();
    body.set('items', new Blob(['[]']), 'items.json');
    const answer = await service.call('POST', ORDERS, { headers: tenant.partner, body });
    assert.deepEqual(faultsOf(answer), ['items: files are not accepted']);
  });
});
