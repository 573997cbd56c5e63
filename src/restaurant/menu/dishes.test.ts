import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { auditOf, dishOf, dumpRows, listDishes, place, STAFF_MENU, within1s } from '#test/support/restaurant.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { sampleMenu } from '#test/support/tenants.ts';
import { anyCharacter } from '#test/support/texts.ts';

const { service, tenant } = await useRestaurant();
/** Second tenant. One group of tests changes a dish of this tenant field by field. */
const changing = await service.tenant();

function patch(sku: string, json: unknown, of = tenant) {
  return service.call('PATCH', `/v1/staff/dishes/${encodeURIComponent(sku)}/`, { headers: of.staff, json });
}

describe('PATCH /v1/staff/dishes/{sku}/', () => {
  const changes = {
    name: 'Regina',
    description: 'with ham',
    dish_type: 'non_veg',
    price: '12.30',
    is_taxable: false,
    extra_tax_percentage: '3.00',
    image: 'https://example.com/regina.png',
    category: 'Drinks',
    sub_menu: 'Default',
    kitchen: 'Default',
    menu_set: 'Default',
    price_variants: [{ name: 'Small', price: '8.00' }],
    addons: [{ name: 'Ham', price: '2.00', dish_type: null, image: null, is_active: false }],
    ingredients: ['ham'],
    is_active: false,
  };

  for (const [field, value] of Object.entries(changes)) {
    it(`200: a PATCH of ${field} of a dish changes only this field`, async () => {
      const readDocument = async () => (await service.call('GET', STAFF_MENU, { headers: changing.staff })).body;
      const expected = await readDocument();
      assert.notDeepEqual(expected.dishes[0][field], value);
      expected.dishes[0][field] = value;
      const answer = await patch('PIZZA-1', { [field]: value }, changing);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(await readDocument(), expected);
    });
  }

  it('200: the response to a PATCH has the number of active dishes of the category after the change', async () => {
    const own = await service.tenant();
    for (const [change, dishCount] of [
      [{ price: '2.60' }, '1'],
      [{ category: 'Pizza' }, '2'],
      [{ is_active: false }, '1'],
      [{ is_active: true }, '2'],
    ] as const) {
      assert.equal((await patch('WATER', change, own)).body.category.dish_count, dishCount);
    }
  });

  it('200: a PATCH returns the dish as partners see it, plus its ingredients and its inactive add-ons', async () => {
    const listed = await dishOf(service, tenant, 'PIZZA-1');
    const { body } = await patch('PIZZA-1', { price: '10.00' });
    const { ingredients, addons, ...dish } = body;
    assert.deepEqual(ingredients, ['flour', 'tomato']);
    assert.deepEqual(
      addons.map((addon: { name: string; is_active: boolean }) => [addon.name, addon.is_active]),
      [
        ['Extra cheese', true],
        ['Truffle', false],
      ],
    );
    assert.deepEqual({ ...dish, addons: [addons[0]] }, listed);
  });

  it('200: a PATCH with the stored values of a dish changes no row, and a PATCH can set dish_type to an empty text or null', async () => {
    const rows = await dumpRows(service, 'menu', 'dish');
    assert.equal((await patch('PIZZA-1', { price: '10', name: 'Margherita', unknown: 1 })).status, 200);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
    assert.equal((await patch('PIZZA-1', { dish_type: '' })).body.dish_type, '');
    assert.equal((await patch('PIZZA-1', { dish_type: null })).body.dish_type, null);
    assert.equal((await patch('PIZZA-1', { dish_type: 'veg' })).body.dish_type, 'veg');
  });

  it('200: a PATCH that changes a dish adds an audit entry with the old and the new value, and a PATCH without a change adds no entry', async () => {
    const own = await service.tenant();
    const entries = () => auditOf(service, own, 'dish.changed');
    assert.equal((await patch('WATER', { price: '2.60', is_active: false }, own)).status, 200);
    assert.equal((await patch('WATER', { price: '2.60' }, own)).status, 200);
    const change = { what: 'dish', name: 'WATER', change: 'disabled' };
    const fields = [{ field: 'price', from: '2.50', to: '2.60' }];
    assert.deepEqual(await entries(), [{ subject: 'WATER', details: { changes: [{ ...change, fields }] } }]);
  });

  it('200: a PATCH with another sku or id in its body changes neither the sku nor the id of the dish', async () => {
    const { id } = await dishOf(service, tenant, 'WATER');
    const { body } = await patch('WATER', { sku: 'WINE', id: 'x', tenant_id: 0, position: 9, name: 'Water' });
    assert.deepEqual([body.sku, body.id], ['WATER', id]);
  });

  it('200: a PATCH of a dish is accepted as a URL-encoded form and as multipart', async () => {
    const multipart = new FormData();
    multipart.set('price', '2.75');
    multipart.set('is_taxable', 'true');
    for (const body of [new URLSearchParams({ price: '2.75', is_taxable: 'true' }), multipart]) {
      await patch('WATER', { price: '2.50', is_taxable: false });
      const answer = await service.call('PATCH', '/v1/staff/dishes/WATER/', { headers: tenant.owner, body });
      assert.deepEqual([answer.status, answer.body.price, answer.body.is_taxable], [200, '2.75', true], answer.text);
    }
    await patch('WATER', { price: '2.50', is_taxable: false });
  });

  it('200: within 1 s on all nodes, a dish taken off the menu is not listed and cannot be ordered, and it can be put back', async () => {
    const other = await startService({ beside: service });
    try {
      const own = await service.tenant();
      for (const node of [service, other]) {
        assert.equal((await place(node, own)).status, 201);
      }
      const isOff = async (node: TestService) => {
        const answer = await place(node, own);
        return answer.status === 400 && !(await listDishes(node, own)).some((dish) => dish.sku === 'PIZZA-1');
      };
      await patch('PIZZA-1', { is_active: false }, own);
      assert.equal(assertError(await place(service, own), 400, 'item_not_found').startsWith('items.0.item_id: '), true);
      assert.ok(await isOff(service));
      await within1s(() => isOff(other));
      await patch('PIZZA-1', { is_active: true, price: '11.00' }, own);
      assert.equal((await place(service, own)).status, 201);
      await within1s(async () => (await listDishes(other, own))[0]?.price === '11.00');
    } finally {
      await other.close();
    }
  });

  it('200: a sku with slashes, percent signs, spaces, Chinese characters or emoji works in the path of a PATCH', async () => {
    const skus = ['a/b', '100%', '%2F', '%25', '?a=b#c', 'ü 饺子 🍕', '..', 'a+b c', "'; --", '/', '𝒳'.repeat(100)];
    const menu = sampleMenu();
    menu.dishes = skus.map((sku) => ({ sku, name: sku, price: '1.00', category: 'Pizza' }));
    const own = await service.tenant({ menu });
    // The loop leaves out the sku `..`, because the HTTP client would remove `..` from the path of the URL, even if it is percent-encoded.
    for (const [index, sku] of skus.filter((each) => each !== '..').entries()) {
      const answer = await patch(sku, { price: `${index}.50` }, own);
      assert.deepEqual([answer.status, answer.body.sku, answer.body.price], [200, sku, `${index}.50`], answer.text);
    }
  });

  it('200: 40 random skus work in the path of a PATCH', async () => {
    const menu = sampleMenu();
    const text = fc
      .string({ unit: anyCharacter, minLength: 1, maxLength: 100 })
      .filter((sku) => !/\0|^\.\.?$/.test(sku));
    const skus = fc.sample(fc.uniqueArray(text, { minLength: 40, maxLength: 40 }), 1)[0] ?? [];
    const own = await service.tenant({ menu: { ...menu, dishes: [] } });
    const dishes = skus.map((sku) => ({ sku, name: 'N', price: '1.00', category: 'Pizza' }));
    assert.equal(
      (await service.call('PUT', STAFF_MENU, { headers: own.staff, json: { ...menu, dishes } })).status,
      200,
    );
    for (const sku of skus) {
      assert.equal((await patch(sku, { price: '2.00' }, own)).status, 200, JSON.stringify(sku));
    }
  });

  it('400: a change of a dish with unknown sections or with an add-on twice is refused and writes nothing', async () => {
    const rows = await dumpRows(service, 'menu', 'dish');
    assert.deepEqual(faultsOf(await patch('PIZZA-1', { category: 'Soup', kitchen: 'Roof', price: '2' })), [
      'category: "Soup" is not in categories',
      'kitchen: "Roof" is not in kitchens',
    ]);
    const twice = { addons: ['1', '2'].map((price) => ({ name: 'Egg', price })) };
    assert.deepEqual(faultsOf(await patch('PIZZA-1', twice)), ['addons.1.name: "Egg" is given twice']);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
  });

  it('200: concurrent changes of one menu on two nodes are applied one after the other, and no change is lost', async () => {
    const menu = sampleMenu();
    const skus = Array.from({ length: 10 }, (_, index) => `D-${index}`);
    menu.dishes = skus.map((sku) => ({ sku, name: sku, price: '1', category: 'Pizza', is_active: false }));
    const own = await service.tenant({ menu });
    const replaced = { ...menu, dishes: menu.dishes.map((dish) => ({ ...dish, is_active: true, price: '9' })) };
    const other = await startService({ beside: service });
    try {
      // Two nodes change the fields of one dish at the same time. In the end, the dish has all changes.
      const fields = {
        name: 'N',
        description: 'D',
        price: '2.00',
        is_taxable: false,
        is_active: true,
        image: 'http://x/',
      };
      const parts = Object.entries(fields).map(([field, value], index) =>
        (index % 2 === 0 ? service : other).call('PATCH', '/v1/staff/dishes/D-0/', {
          headers: own.staff,
          json: { [field]: value },
        }),
      );
      assert.ok((await Promise.all(parts)).every(({ status }) => status === 200));
      const dish = await dishOf(service, own, 'D-0');
      for (const [field, value] of Object.entries(fields)) {
        assert.equal(dish[field as keyof typeof fields], value, field);
      }
      // One call replaces the whole menu while other calls change its dishes. In the end, the price and the description of a dish come from
      // the same call.
      const answers = await Promise.all([
        ...skus.map((sku) => patch(sku, { price: '5', description: 'changed' }, own)),
        other.call('PUT', STAFF_MENU, { headers: own.staff, json: replaced }),
        ...skus.map((sku) => patch(sku, { name: 'changed' }, own)),
      ]);
      assert.ok(answers.every(({ status }) => status === 200));
      for (const { price, description } of await listDishes(service, own)) {
        assert.ok(['9.00 ', '5.00 changed'].includes(`${price} ${description}`), `${price} ${description}`);
      }
      assert.equal((await listDishes(service, own)).length, skus.length);
    } finally {
      await other.close();
    }
  });
});
