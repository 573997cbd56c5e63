import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dumpRows, listDishes, MENU, place, STAFF_MENU } from '#test/support/restaurant.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { OperatorError } from '#platform/errors.ts';
import { newId } from '#platform/lib/ids.ts';
import type { MenuDocument } from './schema.ts';
import { renderedBytes } from './rendered-size.ts';
import { countListed, createRenderer, partnerDish } from './rendering.ts';
import type { StoredMenu } from './store.ts';

const NAMES = ['A', 'Bücher', '"quoted"', '\u0001', '🍕'];
const name = fc.constantFrom(...NAMES);
const text = fc.string({
  unit: fc.constantFrom('a', 'é', '部', '🍕', '"', '\\', '\n', '\u0001', '\u2028'),
  maxLength: 12,
});
const nullable = fc.option(text);
const times = { created_at: new Date().toISOString(), updated_at: new Date().toISOString() };
const oneOfEach = <T extends object>(make: (name: string) => fc.Arbitrary<T>) => fc.tuple(...NAMES.map(make));
const dish = fc.record({
  id: fc.constant(newId()),
  position: fc.constant(0),
  sku: text,
  name: text,
  description: text,
  dish_type: fc.constantFrom('veg', '', null),
  price: fc.constantFrom('0.00', '99999999.99'),
  is_active: fc.boolean(),
  is_taxable: fc.boolean(),
  extra_tax_percentage: fc.constantFrom('7.50', '100.00'),
  image: nullable,
  category: name,
  sub_menu: name,
  kitchen: name,
  menu_set: name,
  price_variants: fc.array(fc.record({ name: text, price: fc.constantFrom('1.00', '10.00') }), { maxLength: 3 }),
  addons: fc.array(
    fc.record({
      name: text,
      price: fc.constant('1.00'),
      dish_type: fc.constant(null),
      image: nullable,
      is_active: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  ingredients: fc.array(text, { maxLength: 2 }),
});
const menus = fc.record({
  version: fc.constant(1),
  sections: fc.record({
    kitchens: oneOfEach((own) => fc.record({ name: fc.constant(own), description: text, ...constants(times) })),
    categories: oneOfEach((own) =>
      fc.record({
        name: fc.constant(own),
        description: text,
        image: nullable,
        ticket_type: nullable,
        ...constants(times),
      }),
    ),
    sub_menus: oneOfEach((own) => fc.record({ name: fc.constant(own), is_active: fc.boolean(), ...constants(times) })),
    menu_sets: oneOfEach((own) =>
      fc.record({
        name: fc.constant(own),
        service: fc.constantFrom('all_day', 'breakfast'),
        status: fc.constantFrom('active', 'inactive'),
        sub_menus: fc.array(name, { maxLength: 4 }),
        ...constants(times),
      }),
    ),
  }),
  dishes: fc.array(dish, { maxLength: 14 }),
}) as unknown as fc.Arbitrary<StoredMenu>;

function constants<T extends Record<string, string>>(values: T) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fc.constant(value)])) as {
    [K in keyof T]: fc.Arbitrary<string>;
  };
}

/** Returns a document in which each dish shows a menu set with `subMenuCount` sub-menus. */
function wideMenu(dishCount: number, subMenuCount: number): MenuDocument {
  const names = Array.from({ length: subMenuCount }, (_, index) => `${index} ${'s'.repeat(90)}`);
  return {
    categories: [{ name: 'C' }],
    sub_menus: names.map((each) => ({ name: each })),
    menu_sets: [{ name: 'S', sub_menus: names }],
    dishes: Array.from({ length: dishCount }, (_, index) => ({
      sku: `D${index}`,
      name: 'D',
      price: '1',
      category: 'C',
      menu_set: 'S',
    })),
  };
}

describe('the size of a rendered menu', () => {
  it('the computed size of a random menu is exactly the number of bytes of its JSON', async () => {
    await fc.assert(
      fc.asyncProperty(menus, fc.integer({ min: 1, max: 2 ** 40 }), async (menu, tenantId) => {
        const render = createRenderer(tenantId, 'EUR', { ...menu, dishCounts: countListed(menu.dishes) });
        const dishes = menu.dishes.filter((each) => each.is_active).map((each) => partnerDish(render(each)));
        assert.equal(await renderedBytes(tenantId, menu), Buffer.byteLength(JSON.stringify(dishes)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a menu too large for partners', () => {
  const lines: string[] = [];
  let service: TestService;
  before(async () => {
    service = await startService({ onLog: (line) => lines.push(line) });
  });
  after(() => service.close());

  const TOO_LARGE = /^dishes: would make a menu of \d+ bytes for partners, but at most 33554432 are allowed\. /;

  it('400: a PUT of a menu that is too large for partners is refused, the message names its size, and no row changes', async () => {
    const { staff } = await service.tenant();
    const rows = await dumpRows(service, 'menu', 'dish');
    const answer = await service.call('PUT', STAFF_MENU, { headers: staff, json: wideMenu(2_500, 100) });
    assert.match(faultsOf(answer)[0] ?? '', TOO_LARGE);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
  });

  it('200: partners can read a menu of almost 32 MiB, and the dishes on its last page are the same as at the end of the menu', async () => {
    const tenant = await service.tenant();
    const json = wideMenu(1_890, 100);
    assert.equal((await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json })).status, 200);
    const whole = await service.call('GET', MENU, { headers: tenant.partner });
    assert.ok(whole.text.length > 30 * 1024 * 1024 && whole.text.length <= 32 * 1024 * 1024);
    const last = await service.call('GET', `${MENU}?page=10&page_size=200`, { headers: tenant.partner });
    assert.equal(last.headers.get('content-length'), String(Buffer.byteLength(last.text)));
    assert.ok(
      whole.text.endsWith(JSON.stringify(last.body.results).slice(1)),
      'the last page has the same bytes as the whole list',
    );
    assert.equal(last.body.results.length, 90);
  });

  it('400, 200: a PATCH that makes the menu too large is refused, and a PATCH that makes the menu smaller is accepted', async () => {
    const tenant = await service.tenant();
    const { staff } = tenant;
    const menu = wideMenu(2_100, 100);
    const dishes = menu.dishes.map((each, index) => ({ ...each, is_active: index < 1_862 }));
    const put = await service.call('PUT', STAFF_MENU, { headers: staff, json: { ...menu, dishes } });
    assert.equal(put.status, 200, put.text.slice(0, 300));
    const patch = (sku: string, json: object) =>
      service.call('PATCH', `/v1/staff/dishes/${sku}/`, { headers: staff, json });
    const addons = Array.from({ length: 200 }, (_, index) => ({ name: `${index} ${'🍕'.repeat(508)}`, price: '1' }));
    const large = { addons };
    assert.equal((await patch('D2099', large)).status, 200, 'an inactive dish does not count');
    assert.equal((await patch('D1', large)).status, 200);
    const rows = await dumpRows(service, 'menu', 'dish');
    for (const answer of [await patch('D2', large), await patch('D2099', { is_active: true })]) {
      assert.match(assertError(answer, 400, 'invalid_request'), TOO_LARGE);
    }
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
    assert.equal((await patch('D1', { is_active: false })).status, 200);
    assert.equal((await patch('D2099', { is_active: true })).status, 200);
    assert.equal((await listDishes(service, tenant)).length, 1_862);
  });

  it('the command "tenant apply" refuses a tenant document whose menu is too large for partners, and changes neither the tenant nor its menu', async () => {
    const { document } = await service.tenant();
    const rows = await dumpRows(service, 'tenant', 'menu', 'dish');
    await assert.rejects(
      service.apply({ ...document, name: 'Another', menu: wideMenu(2_500, 100) }),
      (error: unknown) =>
        error instanceof OperatorError && /\n {2}menu\.dishes: would make a menu of \d+ bytes/.test(error.message),
    );
    assert.deepEqual(await dumpRows(service, 'tenant', 'menu', 'dish'), rows);
  });

  it('503: if a stored menu is too large, partners cannot read it, the log says so once, and staff can read and change it', async () => {
    const menu = wideMenu(2_500, 100);
    const dishes = menu.dishes.map((each, index) => ({ ...each, is_active: index < 1_800 }));
    const tenant = await service.tenant({ menu: { ...menu, dishes } });
    const { db } = service.database;
    await db.updateTable('dish').set({ is_active: true }).where('tenant_id', '=', tenant.tenantId).execute();
    for (let round = 0; round < 3; round += 1) {
      const answer = await service.call('GET', MENU, { headers: tenant.partner });
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '60']);
      assert.equal((await place(service, tenant)).status, 503);
    }
    const logged = lines.filter((line) => line.includes('too large') || line.includes('request refused with 503'));
    assert.equal(logged.length, 1, logged.join(''));
    assert.match(logged[0] ?? '', /"rendered_bytes":4\d{7},"max_bytes":33554432/);

    const document = await service.call('GET', STAFF_MENU, { headers: tenant.staff });
    assert.equal(document.body.dishes.length, 2_500);
    const off = { headers: tenant.staff, json: { is_active: false } };
    assert.equal((await service.call('PATCH', '/v1/staff/dishes/D0/', off)).status, 200);
    const json = { ...document.body, menu_sets: [{ name: 'S' }] };
    assert.equal((await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json })).status, 200);
    assert.equal((await listDishes(service, tenant)).length, 2_500);
  });
});
