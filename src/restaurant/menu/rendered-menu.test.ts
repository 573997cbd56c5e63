import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { dumpRows, listDishes, MENU, STAFF_MENU } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';
import { OperatorError } from '#platform/errors.ts';
import type { MenuDocument } from './schema.ts';
import { planMenu } from './menu-plan.ts';
import { fitsInto, renderMenu } from './rendering.ts';

const NO_SECTIONS = { kitchens: [], categories: [], sub_menus: [], menu_sets: [] };

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
  it('fitsInto returns false exactly if the menu for partners would have more bytes than the bound', () => {
    const owner = { tenantId: 1, currency: 'EUR' };
    const { wanted } = planMenu(owner, { sections: NO_SECTIONS, dishes: [] }, wideMenu(5, 3));
    for (const dishes of [wanted.dishes, wanted.dishes.slice(0, 1)]) {
      const menu = { ...wanted, dishes };
      const texts = { sections: JSON.stringify(menu.sections), dishes: JSON.stringify(dishes) };
      const { length } = renderMenu({ owner, texts }).plain;
      assert.deepEqual([fitsInto(length, owner, menu), fitsInto(length - 1, owner, menu)], [true, false]);
    }
  });
});

const service = await useService();

describe('a menu too large for partners', () => {
  const TOO_LARGE = /^dishes: would make a menu of more than 16777216 bytes for partners\. /;

  it('400: a PUT of a menu that is too large for partners is refused, the message names the bound, and no row changes', async () => {
    const { staff } = await service.tenant();
    const rows = await dumpRows(service, 'menu', 'dish');
    const answer = await service.call('PUT', STAFF_MENU, { headers: staff, json: wideMenu(1_250, 100) });
    assert.match(faultsOf(answer)[0] ?? '', TOO_LARGE);
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
  });

  it('200: partners can read a menu of almost 16 MiB, and the dishes on its last page are the same as at the end of the menu', async () => {
    const tenant = await service.tenant();
    const json = wideMenu(945, 100);
    assert.equal((await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json })).status, 200);
    const whole = await service.call('GET', MENU, { headers: tenant.partner });
    assert.ok(whole.text.length > 15 * 1024 * 1024 && whole.text.length <= 16 * 1024 * 1024);
    const last = await service.call('GET', `${MENU}?page=5&page_size=200`, { headers: tenant.partner });
    assert.equal(last.headers.get('content-length'), String(Buffer.byteLength(last.text)));
    assert.ok(
      whole.text.endsWith(JSON.stringify(last.body.results).slice(1)),
      'the last page has the same bytes as the whole list',
    );
    assert.equal(last.body.results.length, 145);
  });

  it('400, 200: a PATCH that makes the menu too large is refused, and a PATCH that makes the menu smaller is accepted', async () => {
    const tenant = await service.tenant();
    const { staff } = tenant;
    const menu = wideMenu(1_050, 100);
    const dishes = menu.dishes.map((each, index) => ({ ...each, is_active: index < 925 }));
    const put = await service.call('PUT', STAFF_MENU, { headers: staff, json: { ...menu, dishes } });
    assert.equal(put.status, 200, put.text.slice(0, 300));
    const patch = (sku: string, json: object) =>
      service.call('PATCH', `/v1/staff/dishes/${sku}/`, { headers: staff, json });
    const addons = Array.from({ length: 115 }, (_, index) => ({ name: `${index} ${'🍕'.repeat(508)}`, price: '1' }));
    const large = { addons };
    assert.equal((await patch('D1049', large)).status, 200, 'an inactive dish does not count');
    assert.equal((await patch('D1', large)).status, 200);
    const rows = await dumpRows(service, 'menu', 'dish');
    for (const answer of [await patch('D2', large), await patch('D1049', { is_active: true })]) {
      assert.match(assertError(answer, 400, 'invalid_request'), TOO_LARGE);
    }
    assert.deepEqual(await dumpRows(service, 'menu', 'dish'), rows);
    assert.equal((await patch('D1', { is_active: false })).status, 200);
    assert.equal((await patch('D1049', { is_active: true })).status, 200);
    assert.equal((await listDishes(service, tenant)).length, 925);
  });

  it('the command "tenant apply" refuses a tenant document whose menu is too large for partners, and changes neither the tenant nor its menu', async () => {
    const { document } = await service.tenant();
    const rows = await dumpRows(service, 'tenant', 'menu', 'dish');
    await assert.rejects(
      service.apply({ ...document, name: 'Another', menu: wideMenu(1_250, 100) }),
      (error: unknown) =>
        error instanceof OperatorError &&
        /\n {2}menu\.dishes: would make a menu of more than 16777216 bytes/.test(error.message),
    );
    assert.deepEqual(await dumpRows(service, 'tenant', 'menu', 'dish'), rows);
  });
});
