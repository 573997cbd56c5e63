import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dumpRows } from '#test/support/restaurant.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { OWNER_PASSWORD, sampleHotel, sampleMenu, STAFF_PASSWORD } from '#test/support/tenants.ts';
import { entriesOf } from '#test/support/lists.ts';
import type { AuditEntry } from '#access/audit/schema.ts';
import type { Change } from '#platform/lib/change-list.ts';
import type { TenantDocument } from './schema.ts';
import { applyTenantDocument } from './tenant-document.ts';

const OTHER_PASSWORD = 'another good password';
const TABLES =
  `tenant app_user sign_in menu dish property room_type rate_plan rate audit_entry recent_change credential`.split(' ');

const service = await useService();

const openTenant = () => service.tenant({ features: ['restaurant', 'hotel'], properties: sampleHotel() });

/** Returns a copy of the tenant's document after `edit` has changed the copy. */
function edited({ document }: TestTenant, edit: (copy: Required<TenantDocument>) => void): TenantDocument {
  const copy = structuredClone(document) as Required<TenantDocument>;
  edit(copy);
  return copy;
}

async function changesBy(tenant: TestTenant, edit: (copy: Required<TenantDocument>) => void): Promise<Change[]> {
  return (await service.apply(edited(tenant, edit))).changes;
}

/** Edits every part of a tenant document: adds, changes and removes entries. */
function editAll(copy: Required<TenantDocument>): void {
  const [owner, staff] = copy.users;
  const [pizza, water] = copy.menu.dishes;
  const [harbour] = copy.properties;
  const [double, suite] = harbour?.room_types ?? [];
  const [flexible] = double?.rate_plans ?? [];
  assert.ok(owner && staff && pizza && water && harbour && double && suite && flexible);
  copy.name = 'Quay House';
  copy.users = [
    { ...owner, password: OTHER_PASSWORD },
    { email: `new@${copy.slug}.example`, password: OTHER_PASSWORD, role: 'staff' },
  ];
  copy.menu.kitchens = [...(copy.menu.kitchens ?? []), { name: 'Bar' }];
  copy.menu.dishes = [
    { ...pizza, price: '12.00', addons: [], description: 'x'.repeat(200) },
    { ...water, sku: 'WINE' },
  ];
  harbour.address = '9 Quay';
  suite.physical_capacity += 1;
  flexible.base_price = '99.00';
}

describe('changes by a tenant document', () => {
  it('applying a document lists each change with its fields, and applying the same document again lists no change', async () => {
    const tenant = await openTenant();
    const slug = tenant.document.slug;
    const changes = await changesBy(tenant, editAll);
    const [harbour] = tenant.document.properties ?? [];
    const [double, suite] = harbour?.room_types ?? [];
    assert.ok(harbour && double && suite);
    assert.deepEqual(changes, [
      {
        what: 'tenant',
        name: slug,
        change: 'changed',
        fields: [{ field: 'name', from: 'Harbour House', to: 'Quay House' }],
      },
      { what: 'user', name: `new@${slug}.example`, change: 'added', fields: [] },
      { what: 'user', name: `owner@${slug}.example`, change: 'changed', fields: [{ field: 'password' }] },
      { what: 'user', name: `staff@${slug}.example`, change: 'disabled', fields: [] },
      { what: 'kitchen', name: 'Bar', change: 'added', fields: [] },
      {
        what: 'dish',
        name: 'PIZZA-1',
        change: 'changed',
        fields: [{ field: 'description' }, { field: 'price', from: '10.00', to: '12.00' }, { field: 'addons' }],
      },
      { what: 'dish', name: 'WINE', change: 'added', fields: [] },
      { what: 'dish', name: 'WATER', change: 'disabled', fields: [] },
      {
        what: 'property',
        name: harbour.name,
        change: 'changed',
        fields: [{ field: 'address', from: harbour.address, to: '9 Quay' }],
      },
      {
        what: 'room type',
        name: `${harbour.name} / ${suite.name}`,
        change: 'changed',
        fields: [{ field: 'physical_capacity', from: suite.physical_capacity, to: suite.physical_capacity + 1 }],
      },
      {
        what: 'rate plan',
        name: `${harbour.name} / ${double.name} / ${double.rate_plans?.[0]?.name}`,
        change: 'changed',
        fields: [{ field: 'base_price', from: double.rate_plans?.[0]?.base_price, to: '99.00' }],
      },
    ]);
    assert.deepEqual(await changesBy(tenant, editAll), []);
  });

  it('dishes that return to the menu and removed categories are listed as changes, but not a new sequence of dishes or categories', async () => {
    const tenant = await service.tenant();
    const turned = await changesBy(tenant, ({ menu }) => {
      menu.dishes.reverse();
      menu.categories = [...(menu.categories ?? []), { name: 'Cake' }].reverse();
    });
    assert.deepEqual(turned, [{ what: 'category', name: 'Cake', change: 'added', fields: [] }]);
    const without = await changesBy(tenant, ({ menu }) => menu.dishes.splice(0, 1));
    assert.deepEqual(
      without.map(({ what, name, change }) => [what, name, change]),
      [
        ['category', 'Cake', 'removed'],
        ['dish', 'PIZZA-1', 'disabled'],
      ],
    );
    const again = await changesBy(tenant, () => undefined);
    assert.deepEqual(again, [{ what: 'dish', name: 'PIZZA-1', change: 'enabled', fields: [] }]);
  });

  it('a dry run of a document lists the same changes as the real run, and writes no row', async () => {
    const tenant = await openTenant();
    const { db } = service.database;
    const document = edited(tenant, editAll);
    const rowsBefore = await dumpRows(service, ...TABLES);
    const dry = await applyTenantDocument(db, document, true);
    assert.deepEqual(await dumpRows(service, ...TABLES), rowsBefore);
    const applied = await service.apply(document);
    assert.ok(applied.changes.length > 5);
    assert.deepEqual(dry, { ...applied, properties: dry.properties });
    assert.deepEqual((await applyTenantDocument(db, document, true)).changes, []);
  });

  it('a dry run of an invalid document fails with the faults of the document', async () => {
    const { document } = await service.tenant();
    await assert.rejects(
      applyTenantDocument(service.database.db, { ...document, users: [] }, true),
      /without an active owner/,
    );
  });

  it('the audit trail of a document has an entry for each changed user, one entry for all other changes, and no password or hash', async () => {
    const tenant = await openTenant();
    const userIds = new Map(
      (await service.database.db.selectFrom('app_user').select(['id', 'email']).execute()).map((user) => [
        user.email,
        user.id,
      ]),
    );
    const { document } = tenant;
    const [owner, staff] = document.users ?? [];
    assert.ok(owner && staff);
    const trail = async (): Promise<AuditEntry[]> => {
      const token = await service.call('POST', '/v1/auth/token/', {
        json: { email: owner.email, password: OTHER_PASSWORD },
      });
      const headers = { authorization: `Bearer ${token.body.access_token}` };
      return await entriesOf(service, '/v1/staff/audit/', headers);
    };
    const { changes } = await service.apply(edited(tenant, editAll));
    const entries = await trail();
    const written = entries.map(({ actor, action, subject, details }) => {
      assert.deepEqual(actor.type === 'user' ? null : actor, { type: 'operator', id: null, name: null });
      return [action, subject, details];
    });
    const added = entries.find(({ details }) => details['email'] === `new@${document.slug}.example`);
    const otherChanges = changes.filter(({ what }) => what !== 'user');
    assert.deepEqual(written.slice(0, 4), [
      ['tenant.applied', String(tenant.tenantId), { count: otherChanges.length, changes: otherChanges }],
      ['user.disabled', userIds.get(staff.email), { email: staff.email }],
      ['user.password_changed', userIds.get(owner.email), { email: owner.email }],
      [
        'user.created',
        added?.subject,
        {
          email: `new@${document.slug}.example`,
          role: 'staff',
          areas: ['orders', 'menu', 'hotel', 'deliveries'],
        },
      ],
    ]);
    const roles = edited(tenant, (copy) => {
      editAll(copy);
      const [, newcomer] = copy.users;
      copy.users = [...copy.users.slice(0, 1), ...(newcomer ? [{ ...newcomer, role: 'owner' as const }] : []), staff];
    });
    await service.apply(roles);
    assert.deepEqual(
      (await trail()).slice(0, 2).map(({ action, details }) => [action, details]),
      [
        ['user.enabled', { email: staff.email }],
        ['user.changed', { email: `new@${document.slug}.example`, role: { from: 'staff', to: 'owner' } }],
      ],
    );
    const count = (await trail()).length;
    await service.apply(roles);
    assert.equal((await trail()).length, count);
    const text = JSON.stringify([await trail(), changes]);
    for (const secret of [OTHER_PASSWORD, OWNER_PASSWORD, STAFF_PASSWORD, 'argon2id']) {
      assert.ok(!text.includes(secret), secret);
    }
  });

  it('the audit entry for more than 1,500 changes by one document lists 1,000 of them, and gives the number of all changes', async () => {
    const tenant = await service.tenant();
    const menu = sampleMenu();
    const [dish] = menu.dishes;
    const dishes = Array.from({ length: 1_500 }, (_, index) => ({ ...dish, sku: `D-${index}` })) as typeof menu.dishes;
    const { changes } = await service.apply({ ...tenant.document, menu: { ...menu, dishes } });
    const { body } = await service.call('GET', '/v1/staff/audit/?limit=1', { headers: tenant.owner });
    const [{ details }] = body.results;
    assert.equal(details.count, changes.length);
    assert.ok(changes.length >= 1_500);
    assert.equal(details.changes.length, 1_000);
  });
});
