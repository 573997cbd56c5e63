import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { dishOf, listDishes, MENU } from '#test/support/restaurant.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { sampleMenu, sampleTenant } from '#test/support/tenants.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const { service, tenant } = await useRestaurant();

/** Checks the ids and times of a dish, and replaces them with fixed texts, so that dishes can be compared. */
function withoutIdsAndTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, each: unknown) => {
    if (key === 'id') {
      assert.match(String(each), UUID);
      return 'ID';
    }
    if (key === 'created_at' || key === 'updated_at') {
      assert.equal(new Date(String(each)).toISOString(), each);
      return 'TIME';
    }
    return each;
  });
}

describe('GET /v1/third-party/menu/', () => {
  it('200: a dish in the menu has exactly the fields of the contract', async () => {
    const pizza = await dishOf(service, tenant, 'PIZZA-1');
    assert.deepEqual(withoutIdsAndTimes(pizza), {
      id: 'ID',
      sku: 'PIZZA-1',
      name: 'Margherita',
      description: 'tomato, mozzarella',
      dish_type: 'veg',
      price: '10.00',
      currency: 'EUR',
      is_active: true,
      is_taxable: true,
      extra_tax_percentage: '7.50',
      image: null,
      category: {
        id: 'ID',
        name: 'Pizza',
        dish_count: '1',
        description: '',
        image: null,
        ticket_type: null,
        tenant: tenant.tenantId,
        sub_menu: null,
        menu_set: null,
        created_at: 'TIME',
        updated_at: 'TIME',
        deleted_at: null,
        restored_at: null,
        transaction_id: null,
      },
      sub_menu: { id: 'ID', name: 'From the oven', is_active: true },
      kitchen: {
        id: 'ID',
        name: 'Main kitchen',
        description: 'downstairs',
        hotel_id: null,
        stock_location_id: null,
        created_at: 'TIME',
        updated_at: 'TIME',
      },
      menu_set: {
        id: 'ID',
        name: 'All day',
        service: 'all_day',
        status: 'active',
        tenant: tenant.tenantId,
        sub_menus: [{ id: 'ID', name: 'From the oven', is_active: true }],
        created_at: 'TIME',
        updated_at: 'TIME',
      },
      price_variants: [{ id: 'ID', name: 'Large', price: '13.00', currency: 'EUR' }],
      addons: [{ id: 'ID', name: 'Extra cheese', price: '1.50', image: null, dish_type: 'veg', is_active: true }],
    });
  });

  it('200: the menu lists only active dishes and active add-ons, in the order of the document', async () => {
    const dishes = await listDishes(service, tenant);
    assert.deepEqual(
      dishes.map((dish) => dish.sku),
      ['PIZZA-1', 'WATER'],
    );
    assert.deepEqual(
      dishes[0]?.addons.map((addon) => addon.name),
      ['Extra cheese'],
    );
  });

  it('200: if the tenant document leaves out fields of a dish, the dish has default values, and its kitchen, sub-menu and menu set are named Default', async () => {
    const water = await dishOf(service, tenant, 'WATER');
    assert.deepEqual([water.description, water.dish_type, water.image], ['', null, null]);
    assert.deepEqual([water.price_variants, water.addons], [[], []]);
    assert.deepEqual([water.kitchen.name, water.sub_menu.name, water.menu_set.name], Array(3).fill('Default'));
    assert.deepEqual([water.menu_set.service, water.menu_set.status], ['all_day', 'active']);
    assert.equal(water.category.ticket_type, 'bar');
  });

  it('200: dish_count is the number of active dishes in the category, as text', async () => {
    const menu = sampleMenu();
    menu.dishes.push(
      { sku: 'P-2', name: 'Second', price: '1', category: 'Pizza' },
      { sku: 'P-3', name: 'Third', price: '1', category: 'Pizza', is_active: false },
    );
    const dishes = await listDishes(service, await service.tenant({ menu }));
    const counts = new Set(dishes.filter((dish) => dish.category.name === 'Pizza').map((d) => d.category.dish_count));
    assert.deepEqual([...counts], ['2']);
  });

  it('200: two dishes in the same sections show the same section ids, but their variants and add-ons have different ids, even with equal names', async () => {
    const menu = sampleMenu();
    menu.dishes.push({ ...menu.dishes[0], sku: 'P-2', name: 'Second', price: '1', category: 'Pizza' });
    const [first, , second] = await listDishes(service, await service.tenant({ menu }));
    for (const field of ['category', 'sub_menu', 'kitchen', 'menu_set'] as const) {
      assert.deepEqual(second?.[field], first?.[field]);
    }
    assert.notEqual(second?.price_variants[0]?.id, first?.price_variants[0]?.id);
    assert.notEqual(second?.addons[0]?.id, first?.addons[0]?.id);
  });

  it('200: a dish is listed even if its sub-menu and menu set are inactive, and its data shows that they are inactive', async () => {
    const menu = sampleMenu();
    menu.sub_menus = [{ name: 'From the oven', is_active: false }];
    menu.menu_sets = [{ name: 'All day', service: 'lunch', status: 'inactive', sub_menus: ['From the oven'] }];
    const pizza = await dishOf(service, await service.tenant({ menu }), 'PIZZA-1');
    assert.deepEqual([pizza.menu_set.service, pizza.menu_set.status], ['lunch', 'inactive']);
    assert.deepEqual([pizza.sub_menu.is_active, pizza.menu_set.sub_menus[0]?.is_active], [false, false]);
  });

  it('200: a tenant without a menu or with an empty menu gets an empty list', async () => {
    const { menu, ...document } = sampleTenant();
    assert.ok(menu);
    const { tenant_id } = await service.apply(document);
    const none = await service.credential(tenant_id);
    const empty = await service.tenant({ menu: { dishes: [] } });
    for (const { partner } of [none, empty]) {
      const answer = await service.call('GET', MENU, { headers: partner });
      assert.deepEqual([answer.status, answer.text], [200, '[]']);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    }
    const page = await service.call('GET', `${MENU}?page=1`, { headers: none.partner });
    assert.deepEqual(page.body, { count: 0, next: null, previous: null, results: [] });
  });

  it('200: all pages of the menu together contain exactly the dishes of the list without pages', async () => {
    const dishes = await listDishes(service, tenant);
    const first = await service.call('GET', `${MENU}?page=1&page_size=1`, { headers: tenant.partner });
    const second = await service.call('GET', new URL(first.body.next).pathname + new URL(first.body.next).search, {
      headers: tenant.partner,
    });
    assert.deepEqual([first.body.count, first.body.previous, second.body.next], [2, null, null]);
    assert.deepEqual([...first.body.results, ...second.body.results], dishes);
  });

  it('200: two tenants with the same sku each see their own dish', async () => {
    const menu = sampleMenu();
    menu.dishes = [{ sku: 'PIZZA-1', name: 'Marinara', price: '3', category: 'Pizza' }];
    const other = await service.tenant({ menu, currency: 'CHF' });
    const [theirs, ours] = await Promise.all([listDishes(service, other), dishOf(service, tenant, 'PIZZA-1')]);
    assert.deepEqual(
      theirs.map((dish) => [dish.name, dish.price, dish.currency, dish.category.tenant]),
      [['Marinara', '3.00', 'CHF', other.tenantId]],
    );
    assert.deepEqual([ours.name, ours.price, ours.currency], ['Margherita', '10.00', 'EUR']);
    assert.notEqual(theirs[0]?.id, ours.id);
    assert.notEqual(theirs[0]?.category.id, ours.category.id);
  });

  it('304, 200: a request with the ETag of the current menu gets 304 without a body, and a request with another ETag gets 200', async () => {
    const { headers } = await service.call('GET', MENU, { headers: tenant.partner });
    const etag = headers.get('etag') ?? '';
    const ask = (tag: string) => service.call('GET', MENU, { headers: { ...tenant.partner, 'if-none-match': tag } });
    const same = await ask(etag);
    assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag]);
    assert.equal((await ask('"another"')).status, 200);
    const staff = { headers: tenant.staff };
    await service.call('PATCH', '/v1/staff/dishes/WATER/', { ...staff, json: { price: '2.60' } });
    const changed = await ask(etag);
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get('etag'), etag);
    await service.call('PATCH', '/v1/staff/dishes/WATER/', { ...staff, json: { price: '2.50' } });
    assert.equal((await ask(etag)).status, 304, 'an equal menu has the same ETag');
  });

  it('400, 404: page 0 of the menu gets 400, and a page after the last one gets 404, even with If-None-Match', async () => {
    const bad = await service.call('GET', `${MENU}?page=0`, { headers: tenant.partner });
    assert.equal(assertError(bad, 400, 'invalid_request'), 'page: must be at least 1');
    const headers = { ...tenant.partner, 'if-none-match': '*' };
    assertError(await service.call('GET', `${MENU}?page=2`, { headers }), 404, 'error');
  });
});
