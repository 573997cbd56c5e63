import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dumpRows, STAFF_MENU } from '#test/support/restaurant.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD, sampleTenant } from '#test/support/tenants.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { hashPassword } from '#access/tenants/passwords.ts';
import type { UserChanges } from '#access/tenants/store.ts';
import { addUser, changeUser, lockUsers } from '#access/tenants/users.ts';

const OTHER_PASSWORD = 'another password of theirs';
const TABLES = `tenant app_user sign_in menu dish audit_entry recent_change`.split(' ');

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

const apply = (document: unknown) => service.apply(document);
const rows = () => dumpRows(service, ...TABLES);

async function signIn(email: string, password: string) {
  return await service.call('POST', '/v1/auth/token/', { json: { email, password } });
}

const statusOfSignIn = async (email: string, password: string) => (await signIn(email, password)).status;

/** A tenant made by a document with an owner and a member of the staff. */
async function house() {
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
    /** As a feature beside the document would. */
    change: async (email: string, changes: UserChanges) =>
      await inTransaction(service.database.db, async (tx) => {
        const user = (await lockUsers(tx, tenant.tenantId)).find((each) => each.email === email);
        assert.ok(user);
        await changeUser(tx, actor, user, changes);
      }),
    addColleague: async (email: string) => {
      const password_hash = await hashPassword(OTHER_PASSWORD);
      const unsaid = { is_in_document: false, document_role: null, document_password_hash: null };
      const user = { id: newId(), email, role: 'staff', password_hash, ...unsaid };
      await inTransaction(service.database.db, (tx) => addUser(tx, actor, user));
    },
    statusOf: async (who: 'owner' | 'staff') =>
      (await service.call('GET', STAFF_MENU, { headers: tenant[who] })).status,
  };
}

/** The faults of a document that is refused, having seen that it changed nothing. */
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

describe('the users of a tenant document', () => {
  it('one whom it no longer names is disabled at once, and let in again when it names them again', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await house();
    assert.equal(await statusOf('staff'), 200);
    await applyUsers(ownerUser);
    assert.equal(await statusOf('staff'), 401);
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 401);
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOf('staff'), 200);
  });

  it('a new password is set, and the row of no other user written', async () => {
    const { ownerUser, staffUser, applyUsers } = await house();
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

  it('a role is changed, and users are found by their e-mail in any case', async () => {
    const { ownerUser, staffUser, applyUsers, staff } = await house();
    const applied = await applyUsers(ownerUser, { ...staffUser, email: staffUser.email.toUpperCase(), role: 'owner' });
    assert.deepEqual(applied.users[1], { email: staffUser.email, role: 'owner' });
    const answer = await service.call('GET', '/v1/third-party/credentials/', { headers: staff });
    assert.equal(answer.status, 200, answer.text);
  });

  it('those who are there already need no password: it stays as it is', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await house();
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

  it('an old password that is named anew, after a document without one, is set again', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await house();
    await applyUsers(ownerUser, { ...staffUser, password: undefined });
    await change(staffUser.email, { password_hash: await hashPassword(OTHER_PASSWORD) });
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOfSignIn(staffUser.email, STAFF_PASSWORD), 200);
  });
});

describe('what was changed by other means than the document', () => {
  it('a colleague whom no document made is not disabled; one whom a document has named since then is', async () => {
    const { ownerUser, staffUser, applyUsers, addColleague } = await house();
    const email = `colleague@${ownerUser.email.split('@')[1]}`;
    await addColleague(email);
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    await applyUsers(ownerUser, staffUser, { email, role: 'staff' });
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    await applyUsers(ownerUser, staffUser);
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 401);
  });

  it('a password stays through the same document, with all that it opened; a new one in the document is set', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await house();
    await change(staffUser.email, { password_hash: await hashPassword(OTHER_PASSWORD) });
    const { body } = await signIn(staffUser.email, OTHER_PASSWORD);
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    // Told at last what the user has chosen, it changes nothing either.
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

  it('a role stays through the same document, and is told as it is; another one in the document is written', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await house();
    await change(staffUser.email, { role: 'owner' });
    const same = await applyUsers(ownerUser, staffUser);
    assert.deepEqual(same.changes, []);
    assert.deepEqual(same.users[1], { email: staffUser.email, role: 'owner' });
    assert.deepEqual((await applyUsers(ownerUser, { ...staffUser, role: 'owner' })).changes, []);
    const { changes } = await applyUsers(ownerUser, staffUser);
    assert.deepEqual(changes[0]?.fields, [{ field: 'role', from: 'owner', to: 'staff' }]);
  });

  it('a user stays disabled who is named as before, and enabled who is left out as before', async () => {
    const { ownerUser, staffUser, applyUsers, change, statusOf } = await house();
    await change(staffUser.email, { is_active: false });
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    assert.equal(await statusOf('staff'), 401);
    await applyUsers(ownerUser);
    await change(staffUser.email, { is_active: true });
    assert.deepEqual((await applyUsers(ownerUser)).changes, []);
    assert.equal(await statusOf('staff'), 200);
  });

  it('users whom code of before has made count as named, with the password and role that they have', async () => {
    const { ownerUser, staffUser, applyUsers, tenantId, statusOf } = await house();
    const unsaid = { document_role: null, document_password_hash: null };
    await service.database.db.updateTable('app_user').set(unsaid).where('tenant_id', '=', tenantId).execute();
    assert.deepEqual((await applyUsers(ownerUser, staffUser)).changes, []);
    await service.database.db.updateTable('app_user').set(unsaid).where('tenant_id', '=', tenantId).execute();
    await applyUsers(ownerUser);
    assert.deepEqual([await statusOf('owner'), await statusOf('staff')], [200, 401]);
  });
});

describe('the last active owner', () => {
  it('is not disabled by a document that does not name them, nor made staff: it is refused, and says what to do', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf } = await house();
    for (const users of [[], [staffUser], [{ ...ownerUser, role: 'staff' }, staffUser]]) {
      const message = await refused(() => applyUsers(...users));
      assert.match(message, /^ {2}users: would leave the tenant without an active owner \(now: owner@/m);
      assert.ok(message.includes(ownerUser.email));
    }
    assert.deepEqual([await statusOf('owner'), await statusOf('staff')], [200, 200]);
  });

  it('is not who is disabled: an owner who is, does not count', async () => {
    const { ownerUser, staffUser, applyUsers, change } = await house();
    const second = { ...staffUser, role: 'owner' };
    await applyUsers(ownerUser, second);
    await change(staffUser.email, { is_active: false });
    assert.match(await refused(() => applyUsers(second)), /without an active owner/);
    await change(staffUser.email, { is_active: true });
    await applyUsers(second);
  });

  it('gives way to a new one, to a colleague who becomes one, and to one whom no document made', async () => {
    const { ownerUser, staffUser, applyUsers, statusOf, addColleague, change } = await house();
    const heir = { email: `heir@${ownerUser.email.split('@')[1]}`, password: OTHER_PASSWORD, role: 'owner' };
    await applyUsers(heir, staffUser);
    assert.equal(await statusOf('owner'), 401);
    await applyUsers({ ...heir, role: 'staff' }, { ...staffUser, role: 'owner' });
    const email = `colleague@${ownerUser.email.split('@')[1]}`;
    await addColleague(email);
    await change(email, { role: 'owner' });
    await applyUsers();
    assert.equal(await statusOfSignIn(email, OTHER_PASSWORD), 200);
    assert.equal(await statusOf('staff'), 401);
  });

  it('is needed by no tenant that has none', async () => {
    const document = sampleTenant();
    const [, staff] = document.users ?? [];
    await apply({ ...document, users: [staff] });
    await apply({ ...document, users: [] });
  });
});
