import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '#test/support/answers.ts';
import { dumpRows, STAFF_MENU } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { sampleMenu } from '#test/support/tenants.ts';

const { service, tenant } = await useRestaurant();

function put(json: unknown) {
  return service.call('PUT', STAFF_MENU, { headers: tenant.staff, json });
}

const DISH = { sku: 'A', name: 'A', price: '1.00', category: 'Pizza' };
const withDish = (changes: object) => ({ categories: [{ name: 'Pizza' }], dishes: [{ ...DISH, ...changes }] });

describe('PUT /v1/staff/menu/ with an invalid document', () => {
  for (const [json, ...faults] of [
    [withDish({ catagory: 'Pizza' }), 'dishes.0.catagory: is not a known field (did you mean category?)'],
    [{ dishes: [], kichens: [] }, 'kichens: is not a known field (did you mean kitchens?)'],
    [
      { categories: [{ name: 'Pizza' }], dishes: [{ sku: 'A' }, { price: 1 }] },
      'dishes.0.name: is required',
      'dishes.0.price: is required',
      'dishes.0.category: is required',
      'dishes.1.sku: is required',
      'dishes.1.name: is required',
      'dishes.1.category: is required',
      'dishes.1.price: must be a text',
    ],
    // A JSON schema cannot find the following faults, so the function `menuFaults` finds them.
    [withDish({ category: 'Soup' }), 'dishes.0.category: "Soup" is not in categories'],
    [
      withDish({ kitchen: 'Roof', sub_menu: 'None', menu_set: 'Never' }),
      'dishes.0.sub_menu: "None" is not in sub_menus',
      'dishes.0.kitchen: "Roof" is not in kitchens',
      'dishes.0.menu_set: "Never" is not in menu_sets',
    ],
    [{ ...withDish({}), dishes: [DISH, { ...DISH, name: 'B' }] }, 'dishes.1.sku: "A" is given twice'],
    [
      withDish({
        price_variants: [
          { name: 'L', price: '1' },
          { name: 'L', price: '2' },
        ],
      }),
      'dishes.0.price_variants.1.name: "L" is given twice',
    ],
    [
      withDish({
        addons: [
          { name: 'L', price: '1' },
          { name: 'M', price: '1' },
          { name: 'L', price: '2' },
        ],
      }),
      'dishes.0.addons.2.name: "L" is given twice',
    ],
    [
      { dishes: [], kitchens: [{ name: 'A' }, { name: 'A' }], categories: [{ name: 'B' }, { name: 'B' }] },
      'kitchens.1.name: "A" is given twice',
      'categories.1.name: "B" is given twice',
    ],
    [{ dishes: [], menu_sets: [{ name: 'A', sub_menus: ['B'] }] }, 'menu_sets.0.sub_menus.0: "B" is not in sub_menus'],
  ] as [unknown, ...string[]][]) {
    it(`400: an invalid menu is refused with the fault "${faults[0]}"${faults.length > 1 ? ' and others' : ''}`, async () => {
      assert.deepEqual(faultsOf(await put(json)).sort(), faults.sort());
    });
  }

  it('400: a menu with one invalid dish is refused, and its valid dishes are not written', async () => {
    const rows = await dumpRows(service, 'menu', 'dish');
    const menu = sampleMenu();
    menu.dishes.unshift({ sku: 'NEW', name: 'New', price: '1', category: 'Pizza' });
    menu.dishes.push({ sku: 'BAD', name: 'Bad', price: '1', category: 'Nowhere' });
    assert.deepEqual(faultsOf(await put(menu)), ['dishes.4.category: "Nowhere" is not in categories']);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
  });

  it('400: if a menu has thousands of faults, the service reports 50 of these faults within 10 s, and says that more exist', {
    timeout: 10_000,
  }, async () => {
    const names = Array.from({ length: 999 }, (_, index) => ({ name: `Section number ${index}` }));
    const dishes = Array.from({ length: 5_000 }, (_, index) => ({
      sku: String(index % 2),
      name: 'D',
      price: '1',
      category: 'none',
      kitchen: 'none',
    }));
    const answer = await put({ categories: names, kitchens: names, dishes });
    const faults = faultsOf(answer);
    assert.equal(faults.length, 51);
    assert.match(faults.at(-1) ?? '', /^body: has more faults, which are shown after you correct these$/);
    assert.ok(answer.text.length < 10_000);
  });

  it('400: if a menu has 60,000 unknown fields, the service reports 50 of them', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`dishes${index}`, 1]));
    const faults = faultsOf(await put({ ...unknown, dishes: [] }));
    assert.deepEqual(
      [faults.length, faults[0], faults.at(-1)],
      [
        51,
        'dishes0: is not a known field (did you mean dishes?)',
        'body: has more faults, which are shown after you correct these',
      ],
    );
  });
});
