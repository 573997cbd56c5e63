import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dumpRows, readStaffMenu, STAFF_MENU } from '#test/support/restaurant.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import type { MenuDocument } from './schema.ts';

const NOTHING = { added: [], changed: [], taken_off: [] };
const TABLES = ['menu', 'dish', 'audit_entry', 'recent_change'];

const service = await useService();
let tenant: TestTenant;
beforeEach(async () => {
  tenant = await service.tenant();
});

const call = (json: unknown, query = '?dry_run=true', headers: Record<string, string> = {}) =>
  service.call('PUT', `${STAFF_MENU}${query}`, { headers: { ...tenant.staff, ...headers }, json });

async function dryRun(json: unknown) {
  const rows = await dumpRows(service, ...TABLES);
  const answer = await call(json);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(await dumpRows(service, ...TABLES), rows);
  return answer.body;
}

const readMenu = async () => (await readStaffMenu(service, tenant)).menu;

type Dish = MenuDocument['dishes'][number];
const changeDish = (menu: MenuDocument, sku: string, change: Partial<Dish>): MenuDocument => ({
  ...menu,
  dishes: menu.dishes.map((dish) => (dish.sku === sku ? { ...dish, ...change } : dish)),
});

describe('PUT /v1/staff/menu/?dry_run=true', () => {
  it('200: a dry run of the stored menu reports no change, and a dry run for a tenant without a menu reports the new dish as added', async () => {
    assert.deepEqual(await dryRun(await readMenu()), NOTHING);
    await service.database.db.deleteFrom('dish').where('tenant_id', '=', tenant.tenantId).execute();
    await service.database.db.deleteFrom('menu').where('tenant_id', '=', tenant.tenantId).execute();
    assert.deepEqual(await dryRun({ dishes: [] }), NOTHING);
    assert.deepEqual(await dryRun({ categories: [{ name: 'C' }], dishes: [newDish('A')] }), {
      ...NOTHING,
      added: ['A'],
    });
  });

  const newDish = (sku: string): Dish => ({ sku, name: sku, price: '1', category: 'C' });

  it('200: a dry run lists new dishes, changed fields and dishes that leave the menu, and changes no row', async () => {
    const menu = await readMenu();
    const changed = changeDish(menu, 'PIZZA-1', { price: '10.50', ingredients: [] });
    const dishes = [...changed.dishes.filter(({ sku }) => sku !== 'WATER'), { ...newDish('SOUP'), category: 'Pizza' }];
    assert.deepEqual(await dryRun({ ...changed, dishes }), {
      added: ['SOUP'],
      changed: [{ sku: 'PIZZA-1', fields: ['price', 'ingredients'] }],
      taken_off: ['WATER'],
    });
  });

  it('200: a dish that becomes inactive is in the lists "changed" and "taken_off", but if the document omits a dish that is already inactive, no list names it', async () => {
    const menu = await readMenu();
    const fields = ['is_active'];
    assert.deepEqual(await dryRun(changeDish(menu, 'WATER', { is_active: false })), {
      added: [],
      changed: [{ sku: 'WATER', fields }],
      taken_off: ['WATER'],
    });
    assert.deepEqual(await dryRun({ ...menu, dishes: menu.dishes.filter(({ sku }) => sku !== 'OFF') }), NOTHING);
    assert.deepEqual(await dryRun(changeDish(menu, 'OFF', { is_active: true })), {
      ...NOTHING,
      changed: [{ sku: 'OFF', fields }],
    });
  });

  it('200: the dry run reports no change for a dish that only moves within the menu, also if a new dish moves it', async () => {
    const menu = await readMenu();
    const [first, ...rest] = menu.dishes;
    assert.deepEqual(await dryRun({ ...menu, dishes: [...rest, first] }), NOTHING);
    const inserted = { ...menu, dishes: [{ ...newDish('SOUP'), category: 'Pizza' }, ...menu.dishes] };
    assert.deepEqual(await dryRun(inserted), { ...NOTHING, added: ['SOUP'] });
  });

  it('200: a PUT of the same document changes exactly the dishes that the dry run listed as changed', async () => {
    const menu = await readMenu();
    const wanted = changeDish({ ...menu, dishes: menu.dishes.slice(0, 2) }, 'WATER', { price: '7.00' });
    const said = await dryRun(wanted);
    await call(wanted, '?dry_run=false');
    const now = await readMenu();
    const differing = now.dishes.filter((dish, index) => JSON.stringify(dish) !== JSON.stringify(menu.dishes[index]));
    assert.deepEqual(
      said.changed.map(({ sku }: { sku: string }) => sku),
      differing.map(({ sku }) => sku),
    );
    assert.deepEqual(await dryRun(wanted), NOTHING);
  });

  it('400: a dry run reports the faults of the document, and a menu too large for partners', async () => {
    const menu = await readMenu();
    const rows = await dumpRows(service, ...TABLES);
    assert.deepEqual(faultsOf(await call(changeDish(menu, 'WATER', { category: 'Soup' }))), [
      'dishes.1.category: "Soup" is not in categories',
    ]);
    assert.match(
      faultsOf(await call(largeMenu()))[0] ?? '',
      /^dishes: would make a menu of more than 16777216 bytes for partners/,
    );
    assert.deepEqual(await dumpRows(service, ...TABLES), rows);
  });

  it('200: a dry run with the current ETag in If-Match is accepted; 412: it is refused with another ETag', async () => {
    const { menu, etag } = await readStaffMenu(service, tenant);
    assert.equal((await call(menu, '?dry_run=true', { 'if-match': etag })).status, 200);
    assertError(await call(menu, '?dry_run=true', { 'if-match': '"old"' }), 412, 'error');
  });
});

/**
 * Returns a valid document whose menu is larger than partners may get. In the menu for partners, each dish repeats the data of its menu
 * set. The menu set of this document has 100 sub-menus with long names.
 */
function largeMenu(): MenuDocument {
  const names = Array.from({ length: 100 }, (_, index) => `${index} ${'s'.repeat(90)}`);
  return {
    categories: [{ name: 'C' }],
    sub_menus: names.map((name) => ({ name })),
    menu_sets: [{ name: 'S', sub_menus: names }],
    dishes: Array.from({ length: 1_250 }, (_, index) => ({
      sku: `D${index}`,
      name: 'D',
      price: '1',
      category: 'C',
      menu_set: 'S',
    })),
  };
}
