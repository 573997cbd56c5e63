import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { auditOf, dumpRows, listDishes, place, readStaffMenu, STAFF_MENU, within1s } from '#test/support/restaurant.ts';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { openRecorded } from '#test/support/statements.ts';
import { sampleMenu } from '#test/support/tenants.ts';
import { setAvailability } from './dishes.ts';
import type { MenuDocument } from './schema.ts';

const PATH = '/v1/staff/dishes/availability/';
const TABLES = ['menu', 'dish', 'audit_entry', 'recent_change'];

const service = await useService();
let tenant: TestTenant;
beforeEach(async () => {
  tenant = await service.tenant();
});

const change = (json: unknown, of = tenant) => service.call('POST', PATH, { headers: of.staff, json });
const listed = async (node = service, of = tenant) => (await listDishes(node, of)).map(({ sku }) => sku);

describe('POST /v1/staff/dishes/availability/', () => {
  it('200: several dishes are taken off the menu and put back, and each is in the response once, in the order of the call', async () => {
    const skus = ['WATER', 'OFF', 'PIZZA-1', 'WATER'];
    const expected = (is_active: boolean) => ['WATER', 'OFF', 'PIZZA-1'].map((sku) => ({ sku, is_active }));
    const off = await change({ skus, is_active: false });
    assert.deepEqual([off.status, off.body], [200, expected(false)]);
    assert.deepEqual(await listed(), []);
    assert.deepEqual((await change({ skus, is_active: true })).body, expected(true));
    assert.deepEqual(await listed(), ['PIZZA-1', 'WATER', 'OFF']);
  });

  it('200: within 1 s on all nodes, a dish that was taken off is not listed and cannot be ordered', async () => {
    const other = await startService({ beside: service });
    try {
      for (const node of [service, other]) {
        assert.equal((await place(node, tenant)).status, 201);
      }
      assert.equal((await change({ skus: ['PIZZA-1'], is_active: false })).status, 200);
      assert.deepEqual(await listed(), ['WATER']);
      assertError(await place(service, tenant), 400, 'item_not_found');
      await within1s(async () => !(await listed(other)).includes('PIZZA-1'));
      assertError(await place(other, tenant), 400, 'item_not_found');
    } finally {
      await other.close();
    }
  });

  it('200: a change has one audit entry with the dishes that changed, and a call without a change writes no row', async () => {
    await change({ skus: ['PIZZA-1', 'OFF', 'WATER'], is_active: false });
    const rows = await dumpRows(service, ...TABLES);
    assert.equal((await change({ skus: ['OFF', 'WATER'], is_active: false })).status, 200);
    assert.deepEqual(await dumpRows(service, ...TABLES), rows);
    assert.deepEqual(await auditOf(service, tenant, 'dishes.availability_changed'), [
      { subject: String(tenant.tenantId), details: { is_active: false, skus: ['PIZZA-1', 'WATER'] } },
    ]);
  });

  it('200: one SQL statement changes 500 dishes with unusual characters in their skus, and the skus may be sent in a form', async () => {
    const skus = Array.from({ length: 500 }, (_, index) => `${'𝒳'.repeat(90)} ${index}`);
    const dishes = skus.map((sku) => ({ sku, name: sku, price: '1', category: 'Pizza', is_active: false }));
    const own = await service.tenant({ menu: { ...sampleMenu(), dishes } });
    const { db, statementsOf } = openRecorded(service.database.url, 2);
    try {
      const by = { actor: { tenantId: own.tenantId, type: 'operator', id: null }, currency: 'EUR' } as const;
      const statements = await statementsOf(() => setAvailability(db, by, { skus, is_active: true }));
      assert.equal(statements.filter((statement) => /update "dish"/.test(statement)).length, 1);
    } finally {
      await db.destroy();
    }
    assert.equal((await change({ skus, is_active: false }, own)).body.length, 500);
    const body = new URLSearchParams({ skus: JSON.stringify(skus.slice(0, 2)), is_active: 'true' });
    assert.equal((await service.call('POST', PATH, { headers: own.staff, body })).status, 200);
    assert.deepEqual(await listed(service, own), skus.slice(0, 2));
  });

  it("404: an unknown sku or another tenant's sku is named, and no dish of the call changes", async () => {
    const menu = sampleMenu();
    menu.dishes = [{ sku: 'THEIRS', name: 'Theirs', price: '1', category: 'Pizza' }];
    const other = await service.tenant({ menu });
    const rows = await dumpRows(service, ...TABLES);
    for (const sku of ['THEIRS', 'NOTHING', 'water']) {
      const answer = await change({ skus: ['WATER', sku], is_active: false });
      assert.equal(assertError(answer, 404, 'error'), `No such dish: "${sku}". No dish was changed.`);
    }
    assert.deepEqual(await dumpRows(service, ...TABLES), rows);
    assert.deepEqual(await listed(service, other), ['THEIRS']);
  });

  it('400: if activating dishes would make the menu for partners larger than 16 MiB, the call is refused and changes no dish', async () => {
    const { skus, menu } = largeMenu();
    const own = await service.tenant({ menu });
    const rows = await dumpRows(service, ...TABLES);
    const answer = await change({ skus, is_active: true }, own);
    assert.match(
      assertError(answer, 400, 'invalid_request'),
      /^dishes: would make a menu of more than 16777216 bytes for partners/,
    );
    assert.deepEqual(await dumpRows(service, ...TABLES), rows);
    assert.equal((await change({ skus: skus.slice(0, 10), is_active: true }, own)).status, 200);
  });

  it('200, 405: a dish with the sku "availability" can be changed by PATCH, and a GET of its path is refused', async () => {
    const menu = sampleMenu();
    menu.dishes = [{ sku: 'availability', name: 'A', price: '1', category: 'Pizza' }];
    const own = await service.tenant({ menu });
    const patched = await service.call('PATCH', PATH, { headers: own.staff, json: { price: '2' } });
    assert.deepEqual([patched.status, patched.body.price], [200, '2.00']);
    const answer = await service.call('GET', PATH, { headers: own.staff });
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'PATCH, POST']);
  });

  it('200: concurrent changes of availability, a PATCH and a PUT are applied one after the other, and no change is lost', async () => {
    const { menu: document } = await readStaffMenu(service, tenant);
    const answers = await Promise.all([
      change({ skus: ['PIZZA-1'], is_active: false }),
      change({ skus: ['OFF'], is_active: true }),
      service.call('PATCH', '/v1/staff/dishes/WATER/', { headers: tenant.staff, json: { is_active: false } }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual(await listed(), ['OFF']);
    const put = await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json: document });
    assert.equal(put.status, 200);
    assert.deepEqual(await listed(), ['PIZZA-1', 'WATER']);
  });
});

/** With these dishes active, the menu would be larger than 16 MiB. */
function largeMenu(): { skus: string[]; menu: MenuDocument } {
  const names = Array.from({ length: 100 }, (_, index) => `${index} ${'s'.repeat(90)}`);
  const skus = Array.from({ length: 500 }, (_, index) => `OFF-${index}`);
  const dish = (sku: string, is_active: boolean) => ({
    sku,
    name: 'D',
    price: '1',
    category: 'C',
    menu_set: 'S',
    is_active,
  });
  const dishes = [
    ...Array.from({ length: 850 }, (_, index) => dish(`ON-${index}`, true)),
    ...skus.map((sku) => dish(sku, false)),
  ];
  const sub_menus = names.map((name) => ({ name }));
  return {
    skus,
    menu: { categories: [{ name: 'C' }], sub_menus, menu_sets: [{ name: 'S', sub_menus: names }], dishes },
  };
}
