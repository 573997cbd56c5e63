import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dishOf, dumpRows, listDishes, MENU, STAFF_MENU } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { sampleMenu } from '#test/support/tenants.ts';
import type { MenuDocument } from './schema.ts';

const { service, tenant } = await useRestaurant();

async function getDocument(of = tenant) {
  const answer = await service.call('GET', STAFF_MENU, { headers: of.staff });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Required<MenuDocument>;
}

async function put(json: unknown, of = tenant) {
  const answer = await service.call('PUT', STAFF_MENU, { headers: of.staff, json });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Required<MenuDocument>;
}

async function etag(of = tenant) {
  return (await service.call('GET', MENU, { headers: of.partner })).headers.get('etag');
}

function without(menu: MenuDocument, ...skus: string[]): MenuDocument {
  return { ...menu, dishes: menu.dishes.filter((dish) => !skus.includes(dish.sku)) };
}

describe('GET /v1/staff/menu/', () => {
  it('200: staff read the menu document with default values in the fields that the stored document left out', async () => {
    const document = await getDocument();
    assert.deepEqual(Object.keys(document).sort(), ['categories', 'dishes', 'kitchens', 'menu_sets', 'sub_menus']);
    assert.deepEqual(document.kitchens, [
      { name: 'Main kitchen', description: 'downstairs' },
      { name: 'Default', description: '' },
    ]);
    assert.deepEqual(document.categories, [
      { name: 'Pizza', description: '', image: null, ticket_type: null },
      { name: 'Drinks', description: '', image: null, ticket_type: 'bar' },
    ]);
    assert.deepEqual(document.sub_menus[1], { name: 'Default', is_active: true });
    assert.deepEqual(document.menu_sets[1], { name: 'Default', service: 'all_day', status: 'active', sub_menus: [] });
    assert.deepEqual(document.dishes[0], {
      sku: 'PIZZA-1',
      name: 'Margherita',
      description: 'tomato, mozzarella',
      dish_type: 'veg',
      price: '10.00',
      is_active: true,
      is_taxable: true,
      extra_tax_percentage: '7.50',
      image: null,
      category: 'Pizza',
      sub_menu: 'From the oven',
      kitchen: 'Main kitchen',
      menu_set: 'All day',
      price_variants: [{ name: 'Large', price: '13.00' }],
      addons: [
        { name: 'Extra cheese', price: '1.50', dish_type: 'veg', image: null, is_active: true },
        { name: 'Truffle', price: '9.00', dish_type: null, image: null, is_active: false },
      ],
      ingredients: ['flour', 'tomato'],
    });
    assert.deepEqual(
      document.dishes.map((dish) => [dish.sku, dish.is_active]),
      [
        ['PIZZA-1', true],
        ['WATER', true],
        ['OFF', false],
      ],
    );
  });
});

describe('PUT /v1/staff/menu/', () => {
  it('200: a PUT of the menu document that GET returned changes nothing, even if an earlier PUT removed dishes and sections', async () => {
    const other = await service.tenant();
    await put(without(sampleMenu(), 'PIZZA-1'), other);
    await put({ ...without(sampleMenu(), 'WATER'), categories: [{ name: 'Pizza' }] }, other);
    const [rows, tag, document] = [
      await dumpRows(service, 'menu', 'dish'),
      await etag(other),
      await getDocument(other),
    ];
    assert.deepEqual(await put(document, other), document);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
    assert.equal(await etag(other), tag);
  });

  it('200: a second PUT of the same menu document changes nothing', async () => {
    await put(sampleMenu());
    const rows = await dumpRows(service, 'menu', 'dish');
    await put(sampleMenu());
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
  });

  it('200: dishes that a PUT leaves out become inactive but stay stored, and a later PUT brings them back with their ids', async () => {
    const other = await service.tenant();
    const pizza = await dishOf(service, other, 'PIZZA-1');
    await put({ dishes: [] }, other);
    assert.deepEqual(await listDishes(service, other), []);
    const kept = await getDocument(other);
    assert.deepEqual(
      kept.dishes.map((dish) => [dish.sku, dish.is_active]),
      [
        ['PIZZA-1', false],
        ['WATER', false],
        ['OFF', false],
      ],
    );
    await put(sampleMenu(), other);
    assert.deepEqual(await dishOf(service, other, 'PIZZA-1'), pizza);
  });

  it('200: a dish keeps its id if its fields change, and a variant or add-on that returns under its old name has its old id', async () => {
    const other = await service.tenant();
    const [dish] = sampleMenu().dishes;
    assert.ok(dish);
    const first = await dishOf(service, other, 'PIZZA-1');
    const renamed = {
      ...sampleMenu(),
      dishes: [
        {
          ...dish,
          name: 'Regina',
          price: '11',
          price_variants: [{ name: 'Huge', price: '20' }],
          addons: [{ name: 'Olives', price: '1' }],
        },
      ],
    };
    await put(renamed, other);
    const changed = await dishOf(service, other, 'PIZZA-1');
    assert.deepEqual([changed.id, changed.name, changed.price], [first.id, 'Regina', '11.00']);
    assert.deepEqual([changed.price_variants[0]?.name, changed.addons[0]?.name], ['Huge', 'Olives']);
    assert.notEqual(changed.price_variants[0]?.id, first.price_variants[0]?.id);
    assert.notEqual(changed.addons[0]?.id, first.addons[0]?.id);
    await put(sampleMenu(), other);
    assert.deepEqual(await dishOf(service, other, 'PIZZA-1'), first);
  });

  it('200: after a PUT, the menu lists the dishes in the order of the new document', async () => {
    const other = await service.tenant();
    const menu = sampleMenu();
    await put({ ...menu, dishes: menu.dishes.toReversed() }, other);
    const skus = (await listDishes(service, other)).map((dish) => dish.sku);
    assert.deepEqual(skus, ['WATER', 'PIZZA-1']);
  });

  it('200: if a PUT changes a category, the category keeps its id, and updated_at changes only for the changed category', async () => {
    const other = await service.tenant();
    const { category: first } = await dishOf(service, other, 'PIZZA-1');
    const menu = sampleMenu();
    const categories = [
      { name: 'Drinks', ticket_type: 'bar' },
      { name: 'Pizza', description: 'round' },
    ];
    await put({ ...menu, categories }, other);
    const second = (await dishOf(service, other, 'PIZZA-1')).category;
    assert.deepEqual([second.id, second.created_at, second.description], [first.id, first.created_at, 'round']);
    assert.ok(second.updated_at > first.updated_at);
    const drinks = (await dishOf(service, other, 'WATER')).category;
    assert.equal(drinks.updated_at, drinks.created_at);
  });

  it('200: a menu set may contain the sub-menu Default even if no dish belongs to this sub-menu', async () => {
    const menu = sampleMenu();
    menu.menu_sets = [{ name: 'All day', sub_menus: ['Default', 'From the oven'] }];
    const other = await service.tenant({ menu: without(menu, 'WATER', 'OFF') });
    const { menu_set } = await dishOf(service, other, 'PIZZA-1');
    assert.deepEqual(
      menu_set.sub_menus.map((subMenu) => subMenu.name),
      ['Default', 'From the oven'],
    );
  });

  it('200: a PUT of the menu may be a form or multipart, and a list in it may be several fields or one field with JSON', async () => {
    const other = await service.tenant();
    const fields = {
      'kitchens[0].name': 'Bar',
      'categories[0][name]': 'Cocktails',
      'dishes[0][sku]': '007',
      'dishes[0]name': 'Vesper',
      'dishes[0].price': '14',
      'dishes[0].category': 'Cocktails',
      'dishes[0].is_taxable': 'false',
      'dishes[0].kitchen': 'Bar',
      'dishes[0].price_variants': JSON.stringify([{ name: 'Double', price: '25.50' }]),
      'dishes[0].ingredients[]': 'gin',
    };
    const multipart = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      multipart.set(name, value);
    }
    for (const body of [new URLSearchParams(fields), multipart]) {
      await put(sampleMenu(), other);
      const answer = await service.call('PUT', STAFF_MENU, { headers: other.owner, body });
      assert.equal(answer.status, 200, answer.text);
      const [dish] = answer.body.dishes;
      assert.deepEqual([dish.sku, dish.price, dish.is_taxable, dish.kitchen], ['007', '14.00', false, 'Bar']);
      assert.deepEqual([dish.price_variants, dish.ingredients], [[{ name: 'Double', price: '25.50' }], ['gin']]);
      assert.deepEqual(
        (await listDishes(service, other)).map((each) => each.sku),
        ['007'],
      );
    }
  });

  it('200: a PUT of one tenant does not change the menu of another tenant', async () => {
    const other = await service.tenant();
    const tag = await etag();
    await put({ dishes: [] }, other);
    assert.equal(await etag(), tag);
  });
});
