import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dumpRows, listDishes, MENU, place, STAFF_MENU } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { OWNER_PASSWORD, sampleMenu, sampleTenant } from '#test/support/tenants.ts';

const TABLES = `tenant app_user sign_in credential menu dish restaurant_order event audit_entry`.split(' ');

const service = await useService();

const apply = (document: unknown) => service.apply(document);
const rows = () => dumpRows(service, ...TABLES);

async function signIn(email: string | undefined, password: string) {
  return await service.call('POST', '/v1/auth/token/', { json: { email, password } });
}

describe('tenant document', () => {
  it('the document of a new tenant creates the tenant: its owner can sign in, and its dishes are listed', async () => {
    const document = sampleTenant({ features: ['restaurant', 'hotel', 'restaurant'] });
    const applied = await apply(document);
    const users = (document.users ?? []).map(({ email, role }) => ({ email, role }));
    const { tenant_id, changes } = applied;
    assert.deepEqual(applied, { tenant_id, slug: document.slug, users, properties: [], changes });
    assert.equal(typeof applied.tenant_id, 'number');
    const answer = await signIn(users[0]?.email, OWNER_PASSWORD);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.role, 'owner');
    const { id, name, features } = answer.body.tenant;
    assert.deepEqual([id, name, features.toSorted()], [applied.tenant_id, 'Harbour House', ['hotel', 'restaurant']]);
    const dishes = await listDishes(service, await service.credential(applied.tenant_id));
    assert.equal(dishes.length, 2);
  });

  it('a tenant document that is applied again changes no row, not even the password hashes', async () => {
    const document = sampleTenant();
    const first = { ...(await apply(document)), changes: [] };
    const rowsBefore = await rows();
    assert.deepEqual(await apply(document), first);
    assert.deepEqual(await apply(structuredClone(document)), first);
    assert.deepEqual(await rows(), rowsBefore);
  });

  it('a tenant document without users or without a menu leaves the stored users or menu unchanged', async () => {
    const { users, menu, ...rest } = sampleTenant();
    assert.ok(users && menu);
    await apply({ ...rest, users, menu });
    const rowsBefore = await rows();
    await apply(rest);
    await apply({ ...rest, users });
    await apply({ ...rest, menu });
    assert.deepEqual(await rows(), rowsBefore);
  });

  it('a new name, currency, time zone and list of features in the tenant document take effect within a second', async () => {
    const tenant = await service.tenant();
    assert.equal((await listDishes(service, tenant))[0]?.currency, 'EUR');
    await apply({
      ...tenant.document,
      name: 'Quay House',
      currency: 'CHF',
      timezone: 'Europe/Zurich',
      features: ['restaurant', 'hotel'],
    });
    const isShown = async () => (await listDishes(service, tenant))[0]?.currency === 'CHF';
    await eventually(isShown, 'new currency', 1_000);
    const email = tenant.document.users?.[0]?.email;
    const { body } = await signIn(email, OWNER_PASSWORD);
    assert.deepEqual([body.tenant.name, body.tenant.features.toSorted()], ['Quay House', ['hotel', 'restaurant']]);
    const { timezone } = await service.database.db
      .selectFrom('tenant')
      .select('timezone')
      .where('id', '=', tenant.tenantId)
      .executeTakeFirstOrThrow();
    assert.equal(timezone, 'Europe/Zurich');
    await apply({ ...tenant.document, features: ['hotel'] });
    const isRefused = async () => (await service.call('GET', MENU, { headers: tenant.partner })).status === 403;
    await eventually(isRefused, 'refusal', 1_000);
    assert.equal((await service.call('GET', STAFF_MENU, { headers: tenant.staff })).status, 403);
    assert.equal((await place(service, tenant)).status, 403);
    await apply(tenant.document);
    await eventually(async () => (await place(service, tenant)).status === 201, 'order', 1_000);
  });

  it('the menu of a tenant document replaces the stored menu, with the same result as PUT of that menu', async () => {
    const tenant = await service.tenant();
    const menu = sampleMenu();
    menu.dishes = menu.dishes.slice(1);
    await apply({ ...tenant.document, menu });
    const { body } = await service.call('GET', STAFF_MENU, { headers: tenant.staff });
    assert.deepEqual(
      body.dishes.map((dish: { sku: string; is_active: boolean }) => [dish.sku, dish.is_active]),
      [
        ['WATER', true],
        ['OFF', false],
        ['PIZZA-1', false],
      ],
    );
    const put = await service.call('PUT', STAFF_MENU, { headers: tenant.staff, json: menu });
    assert.deepEqual(put.body, body);
  });

  it('a tenant document changes no row of another tenant', async () => {
    const { tenantId } = await service.tenant();
    const ofTenant = async () => (await rows()).filter((row) => row.includes(`(${tenantId},`));
    const rowsBefore = await ofTenant();
    assert.ok(rowsBefore.length > 5);
    await apply(sampleTenant({ menu: { dishes: [] } }));
    assert.deepEqual(await ofTenant(), rowsBefore);
  });

  it('if the document of a new tenant is applied several times concurrently, one tenant with its two users is created', async () => {
    for (let round = 0; round < 5; round += 1) {
      const document = sampleTenant();
      const applied = await Promise.all(Array.from({ length: 6 }, () => apply(document)));
      assert.equal(new Set(applied.map((each) => each.tenant_id)).size, 1);
      assert.equal((await rows()).filter((row) => row.startsWith('sign_in ') && row.includes(document.slug)).length, 2);
    }
  });
});
