import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choosePassword, expireInvitation, invite, NEW_PASSWORD, PEOPLE } from '#test/support/people.ts';
import { dumpRows, STAFF_MENU } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD, sampleTenant } from '#test/support/tenants.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { hashPassword } from '#access/tenants/passwords.ts';
import type { UserChanges } from '#access/tenants/store.ts';
import { lockUserByEmail } from '#access/tenants/tenants.ts';
import { addUser, changeUser } from '#access/tenants/users.ts';

const OTHER_PASSWORD = 'another good password';
const TABLES = `tenant app_user sign_in menu dish audit_entry recent_change`.split(' ');

const service = await useService();

const apply = (document: unknown) => service.apply(document);
const rows = () => dumpRows(service, ...TABLES);

async function signIn(email: string, password: string) {
  return await service.call('POST', '/v1/auth/token/', { json: { email, password } });
}

const statusOfSignIn = async (email: string, password: string) => (await signIn(email, password)).status;

async function openTenant() {
  const tenant = await service.tenant();
  const [owner, staff] = tenant.document.users ?? [];
  assert.ok(owner && staff);
  const { users: _users, ...rest } = tenant.document;
  const actor = { tenantId: tenant.tenantId, type: 'operator' as const, id: null };
  return {
    ...tenant,
    ownerUser: owner,
    staffUser: staff,
    applyUsers: (...users: unknown[]) => apply({ ...rest, users }),
    change: async (email: string, changes: UserChanges) =>
      await inTransaction(service.database.db, async (tx) => {
        const user = await lockUserByEmail(tx, tenant.tenantId, email);
        assert.ok(user);
        await changeUser(tx, actor, user, changes);
      }),
    addColleague: async (email: string, areas: string[] = []) => {
      const password_hash = await hashPassword(OTHER_PASSWORD);
      const notDocumented = {
        invitation_expires_at: null,
        document_role: null,
        document_password_hash: null,
        document_name: null,
        document_areas: null,
      };
      const user = { id: newId(), email, name: null, role: 'staff', areas, password_hash, ...notDocumented };
      await inTransaction(service.database.db, (tx) => addUser(tx, actor, user));
    },
    statusOf: async (who: 'owner' | 'staff') =>
      (await service.call('GET', STAFF_MENU, { headers: tenant[who] })).status,
  };
}

/** Checks that a document is refused and changes no row. @returns the error message, which lists the faults of the document */
async function refused(applying: () => Promise<unknown>): Promise<string> {
  const rowsBefore = await rows();
  let message = '';
  await assert.rejects(applying, (error: Error) => {
    message = error.message;
    return error.name === 'OperatorError' || message.startsWith('The tenant document');
  });
  assert.deepEqual(await rows(), rowsBefore);
  return message;
}

describe('users of a tenant document', () => {
  it('401: a user whom a document no longer names is disabled immediately; 200: the user may sign in when a document names them again', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await openTenant();
    assert.equal(await statusOf('staff'), 200);
    await applyUsers(ownerUser);
    assert.equal(await statusOf('staff'), 401);
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 401);
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 200);
    assert.equal(await statusOf('staff'), 401, 'a token from before does not work again');
  });

  it('a new password in the document replaces the old one and changes the row of no other user', async () => {
    const { ownerUser, staffUser, applyUsers } = await openTenant();
    const users = () => dumpRows(service, 'app_user');
    const rowsBefore = await users();
    await applyUsers({ ...ownerUser, password: OTHER_PASSWORD }, staffUser);
    assert.equal(await statusOfSignIn(ownerUser.email, OTHER_PASSWORD), 200);
    assert.equal(await statusOfSignIn(ownerUser.email, OWNER_PASSWORD), 401);
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 200);
    const changed = (await users()).filter((row) => !rowsBefore.includes(row));
    assert.equal(changed.length, 1, changed.join('\n'));
    assert.ok(changed[0]?.includes(ownerUser.email));
  });

  it('a document changes the role of an existing user, even if it writes the e-mail of the user in upper case', async () => {
    const { ownerUser, staffUser, applyUsers, staff } = await openTenant();
    const applied = await applyUsers(ownerUser, { ...staffUser, email: staffUser.email.toUpperCase(), role: 'owner' });
    assert.deepEqual(applied.users[1], { email: staffUser.email, role: 'owner' });
    const answer = await service.call('GET', '/v1/third-party/credentials/', { headers: staff });
    assert.equal(answer.status, 200, answer.text);
  });

  it('a document without a password for an existing user leaves the stored password unchanged', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await openTenant();
    const [owner, staff] = [ownerUser, staffUser].map(({ email, role }) => ({ email, role }));
    assert.deepEqual((await applyUsers(owner, staff)).changes, []);
    const rowsBefore = await dumpRows(service, 'app_user');
    assert.deepEqual((await applyUsers(owner, staff)).changes, []);
    assert.deepEqual(await dumpRows(service, 'app_user'), rowsBefore);
    assert.equal(await statusOfSignIn(ownerUser.email, OWNER_PASSWORD), 200);
    await applyUsers(owner, { ...staff, role: 'owner' });
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 200);
    assert.deepEqual([await statusOf('owner'), await statusOf('staff')], [200, 200]);
  });

  it('if the last document had no password for a user, a password in the next document replaces a password that the user got between the two documents', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await openTenant();
    await applyUsers(ownerUser, { ...staffUser, password: undefined });
    await change(staffUser.email, { password_hash: await hashPassword(OTHER_PASSWORD) });
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 200);
  });
});

describe('areas and names in a tenant document', () => {
  const DEFAULT_AREAS = ['orders', 'menu', 'hotel', 'deliveries'];
  const profiles = async (tenantId: number) =>
    await service.database.db
      .selectFrom('app_user')
      .select(['name', 'areas'])
      .where('tenant_id', '=', tenantId)
      .where('role', '=', 'staff')
      .orderBy('email', 'desc')
      .execute();

  it('new staff without areas in a document get all areas except rates, and areas in a document are stored once each, in a fixed order', async () => {
    const { tenantId, ownerUser, staffUser, applyUsers } = await openTenant();
    assert.deepEqual(await profiles(tenantId), [{ name: null, areas: DEFAULT_AREAS }]);
    const named = { ...staffUser, name: 'Tiago Lopes', areas: ['rates', 'orders', 'rates'] };
    const { changes } = await applyUsers(ownerUser, named);
    assert.deepEqual(await profiles(tenantId), [{ name: 'Tiago Lopes', areas: ['orders', 'rates'] }]);
    assert.deepEqual(
      changes.flatMap(({ fields }) => fields),
      [
        { field: 'name', from: null, to: 'Tiago Lopes' },
        { field: 'areas', from: DEFAULT_AREAS, to: ['orders', 'rates'] },
      ],
    );
    assert.deepEqual((await applyUsers(ownerUser, named)).changes, []);
    await applyUsers(ownerUser, staffUser);
    assert.deepEqual(await profiles(tenantId), [{ name: 'Tiago Lopes', areas: DEFAULT_AREAS }]);
  });

  it('if areas and name of a user changed outside of the document, applying the previous document again keeps both, and new areas in a document replace only the areas', async () => {
    const { tenantId, ownerUser, staffUser, applyUsers, change } = await openTenant();
    const named = { ...staffUser, name: 'Tiago Lopes', areas: ['menu'] };
    for (const document of [staffUser, named]) {
      await applyUsers(ownerUser, document);
      await change(staffUser.email, { name: 'Tiago', areas: ['hotel'] });
      assert.deepEqual((await applyUsers(ownerUser, document)).changes, []);
      assert.deepEqual(await profiles(tenantId), [{ name: 'Tiago', areas: ['hotel'] }]);
    }
    await applyUsers(ownerUser, { ...named, areas: ['orders'] });
    assert.deepEqual(await profiles(tenantId), [{ name: 'Tiago', areas: ['orders'] }]);
  });

  it('if a person was added with areas outside of the document, the first document that names the person without areas keeps the areas', async () => {
    const { tenantId, ownerUser, staffUser, applyUsers, addColleague } = await openTenant();
    const email = `colleague@${ownerUser.email.split('@')[1]}`;
    await addColleague(email, ['hotel']);
    await applyUsers(ownerUser, staffUser, { email, role: 'staff' });
    const areasOf = async () => (await profiles(tenantId)).map(({ areas }) => areas);
    assert.deepEqual(await areasOf(), [DEFAULT_AREAS, ['hotel']]);
    await applyUsers(ownerUser, staffUser, { email, role: 'staff', areas: ['rates'] });
    assert.deepEqual(await areasOf(), [DEFAULT_AREAS, ['rates']]);
  });

  it('a document that changes the areas of staff takes effect at the next call, and an owner has all areas even if the document gives the owner only one area', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await openTenant();
    await applyUsers({ ...ownerUser, areas: ['rates'] }, { ...staffUser, areas: ['rates'] });
    assert.deepEqual([await statusOf('owner'), await statusOf('staff')], [200, 403]);
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOf('staff'), 200);
  });

  it('a document with an unknown area or an empty name is refused', async () => {
    const { ownerUser, staffUser, applyUsers } = await openTenant();
    assert.match(await refused(() => applyUsers(ownerUser, { ...staffUser, areas: ['bar'] })), /users\.1\.areas\.0: /);
    assert.match(await refused(() => applyUsers(ownerUser, { ...staffUser, name: '' })), /users\.1\.name: /);
  });
});

describe('users that were changed without a tenant document', () => {
  it('a document that leaves out a user disables the user only if an earlier document has named the user', async () => {
    const { ownerUser, staffUser, applyUsers, addColleague } = await openTenant();
    const email = `colleague@${ownerUser.email.split('@')[1]}`;
    await addColleague(email);
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    await applyUsers(ownerUser, staffUser, { email, role: 'staff' });
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 401);
  });

  it('if a user gets a password outside of the document, this password and its access tokens work until a document changes the password', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await openTenant();
    await change(staffUser.email, { password_hash: await hashPassword(OTHER_PASSWORD) });
    const { body } = await signIn(staffUser.email, OTHER_PASSWORD);
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    // The user already has the changed password, so a document with this password makes no change.
    assert.deepEqual((await applyUsers(ownerUser, { ...staffUser, password: OTHER_PASSWORD })).changes, []);
    const headers = { authorization: `Bearer ${body.access_token}` };
    assert.equal((await service.call('GET', STAFF_MENU, { headers })).status, 200);
    const { changes } = await applyUsers(ownerUser, staffUser);
    assert.deepEqual(
      changes.map(({ name, change: kind, fields }) => [name, kind, fields]),
      [[staffUser.email, 'changed', [{ field: 'password' }]]],
    );
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 200);
    assert.equal((await service.call('GET', STAFF_MENU, { headers })).status, 401);
  });

  it('if a staff user became owner outside of the document, a document with the role staff changes the role only after a document with the role owner was applied', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await openTenant();
    await change(staffUser.email, { role: 'owner' });
    const same = await applyUsers(ownerUser, staffUser);
    assert.deepEqual(same.changes, []);
    assert.deepEqual(same.users[1], { email: staffUser.email, role: 'owner' });
    assert.deepEqual((await applyUsers(ownerUser, { ...staffUser, role: 'owner' })).changes, []);
    const { changes } = await applyUsers(ownerUser, staffUser);
    assert.deepEqual(changes[0]?.fields, [{ field: 'role', from: 'owner', to: 'staff' }]);
  });

  it('if a user was disabled or enabled outside of the document, applying the previous document again neither enables nor disables the user', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await openTenant();
    const statusOfStaff = () => statusOfSignIn(staffUser.email, STAFF_PASSWORD);
    await change(staffUser.email, { is_active: false });
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    assert.equal(await statusOfStaff(), 401);
    await applyUsers(ownerUser);
    await change(staffUser.email, { is_active: true });
    assert.deepEqual((await applyUsers(ownerUser)).changes, []);
    assert.equal(await statusOfStaff(), 200);
  });
});

describe('last active owner of a tenant', () => {
  it('a document that leaves out the last active owner or makes this owner staff is refused, and the message names the owner', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await openTenant();
    for (const users of [[], [staffUser], [{ ...ownerUser, role: 'staff' }, staffUser]]) {
      const message = await refused(() => applyUsers(...users));
      assert.match(message, /^ {2}users: would leave the tenant without an active owner \(active owners now: owner@/m);
      assert.ok(message.includes(ownerUser.email));
    }
    assert.deepEqual([await statusOf('owner'), await statusOf('staff')], [200, 200]);
  });

  it('a document whose only owner is a disabled user is refused, because the tenant would have no active owner', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await openTenant();
    const second = { ...staffUser, role: 'owner' };
    await applyUsers(ownerUser, second);
    await change(staffUser.email, { is_active: false });
    assert.match(await refused(() => applyUsers(second)), /without an active owner/);
    await change(staffUser.email, { is_active: true });
    await applyUsers(second);
  });

  it('a document may leave out an owner if another user is owner, even if no document has ever named this other user', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf, addColleague, change } = await openTenant();
    const newOwner = { email: `new-owner@${ownerUser.email.split('@')[1]}`, password: OTHER_PASSWORD, role: 'owner' };
    await applyUsers(newOwner, staffUser);
    assert.equal(await statusOf('owner'), 401);
    await applyUsers({ ...newOwner, role: 'staff' }, { ...staffUser, role: 'owner' });
    const email = `colleague@${ownerUser.email.split('@')[1]}`;
    await addColleague(email);
    await change(email, { role: 'owner' });
    await applyUsers();
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    assert.equal(await statusOf('staff'), 401);
  });

  it('a document without an owner is accepted for a tenant that has no owner', async () => {
    const document = sampleTenant();
    const [, staff] = document.users ?? [];
    await apply({ ...document, users: [staff] });
    await apply({ ...document, users: [] });
  });
});

describe('invited people and a tenant document', () => {
  it('a document that names an invited person with a password ends the invitation and its link, and the person can sign in', async () => {
    const tenant = await openTenant();
    const invited = await invite(service, tenant, { areas: ['menu'], name: 'Rui' });
    const { id, email } = invited.body.person;
    const { changes } = await tenant.applyUsers(tenant.ownerUser, { email, password: OTHER_PASSWORD, role: 'staff' });
    assert.deepEqual(
      changes.find(({ name }) => name === email),
      { what: 'user', name: email, change: 'changed', fields: [{ field: 'password' }] },
    );
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    assert.equal((await choosePassword(service, invited)).status, 401);
    const people = (await service.call('GET', PEOPLE, { headers: tenant.owner })).body;
    const person = people.find((each: { id: string }) => each.id === id);
    assert.deepEqual([person.is_invited, person.areas, person.name], [false, ['menu'], 'Rui']);
  });

  it('a document that names an invited person without a password changes the role, and the person stays invited', async () => {
    const tenant = await openTenant();
    const invited = await invite(service, tenant);
    const { email } = invited.body.person;
    await tenant.applyUsers(tenant.ownerUser, { email, role: 'owner' });
    const accepted = await choosePassword(service, invited);
    assert.equal(accepted.status, 200);
    assert.equal(accepted.body.person.role, 'owner');
  });

  it('a document does not disable people whom no document has named, whether they are invited or have accepted', async () => {
    const tenant = await openTenant();
    const [open, accepted] = [await invite(service, tenant), await invite(service, tenant)];
    await choosePassword(service, accepted);
    const { changes } = await tenant.applyUsers(tenant.ownerUser);
    assert.deepEqual(
      changes.map(({ name, change }) => [name, change]),
      [[tenant.staffUser.email, 'disabled']],
    );
    assert.equal(await statusOfSignIn(accepted.body.person.email, NEW_PASSWORD), 200);
    assert.equal((await choosePassword(service, open)).status, 200);
  });

  it('if only an invited person would be owner after a document, the document is refused, unless the document gives this person a password', async () => {
    const tenant = await openTenant();
    const { email } = (await invite(service, tenant, { role: 'owner' })).body.person;
    const staffOnly = { ...tenant.ownerUser, role: 'staff' };
    assert.match(await refused(() => tenant.applyUsers(staffOnly)), /without an active owner/);
    const named = { email, role: 'owner' };
    assert.match(await refused(() => tenant.applyUsers(staffOnly, named)), /without an active owner/);
    await tenant.applyUsers(staffOnly, { ...named, password: OTHER_PASSWORD });
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
  });

  it('a document with an e-mail that another tenant has invited is refused, and is accepted after the invitation has expired', async () => {
    const [tenant, other] = [await openTenant(), await openTenant()];
    const invited = await invite(service, other);
    const { email } = invited.body.person;
    const document = [tenant.ownerUser, { email, password: OTHER_PASSWORD, role: 'staff' }];
    assert.match(await refused(() => tenant.applyUsers(...document)), /belongs to a user of another tenant/);
    await expireInvitation(service, email);
    await tenant.applyUsers(...document);
    const signedIn = await signIn(email, OTHER_PASSWORD);
    assert.deepEqual([signedIn.status, signedIn.body.tenant.id], [200, tenant.tenantId]);
    assert.equal((await choosePassword(service, invited)).status, 401);
  });
});
