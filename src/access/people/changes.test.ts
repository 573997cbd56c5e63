import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  addPerson,
  assertConflict,
  auditOf,
  changePerson,
  choosePassword,
  cookieOf,
  expireInvitation,
  invite,
  PEOPLE,
  readMe,
  resetPerson,
  signInForToken,
  tokenOf,
} from '#test/support/people.ts';
import type { Answer } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { personId } from '#test/support/sessions.ts';
import { countWaiting } from '#test/support/statements.ts';
import { eventually } from '#test/support/webhooks.ts';

const service = await useService();

describe('PATCH /v1/staff/people/{id}/', () => {
  it('200: a change of name, role and areas applies to the next call of the person, and the audit trail has the old and the new values', async () => {
    const tenant = await service.tenant();
    const { id, headers } = await addPerson(service, tenant, { areas: ['menu'] });
    const changed = await changePerson(service, tenant, id, { name: 'Ana', areas: ['orders', 'hotel'] });
    assert.equal(changed.status, 200);
    assert.deepEqual(
      [changed.body.name, changed.body.areas, changed.body.is_invited],
      ['Ana', ['orders', 'hotel'], false],
    );
    const { person } = (await readMe(service, headers)).body;
    assert.deepEqual([person.name, person.areas], ['Ana', ['orders', 'hotel']]);
    await changePerson(service, tenant, id, { role: 'owner', areas: [] });
    assert.equal((await service.call('GET', PEOPLE, { headers })).status, 200);
    await changePerson(service, tenant, id, { role: 'staff' });
    assert.equal((await service.call('GET', PEOPLE, { headers })).status, 403);
    assert.deepEqual((await readMe(service, headers)).body.person.areas, ['orders', 'hotel']);
    const entries = (await auditOf(service, tenant, id)).filter(
      ({ action }: { action: string }) => action === 'user.changed',
    );
    assert.deepEqual(entries.at(-1).details.areas, { from: ['menu'], to: ['orders', 'hotel'] });
    assert.deepEqual(entries[0].details.role, { from: 'owner', to: 'staff' });
  });

  it('200: a change of a person ignores fields that an owner may not change, such as tenant_id, email, password_hash and generation', async () => {
    const tenant = await service.tenant();
    const id = await personId(service, tenant.tenantId, 'staff');
    const rowOf = () =>
      service.database.db.selectFrom('app_user').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const { last_seen_at: _before, ...earlier } = await rowOf();
    const columns = { tenant_id: 1, id: tenant.credential.id, email: 'x@y.example', password_hash: 'x', generation: 9 };
    const json = { ...columns, document_role: 'owner', invitation_expires_at: null, language: 'de', '"': 'x' };
    assert.equal((await changePerson(service, tenant, id, json)).status, 200);
    const { last_seen_at: _after, ...later } = await rowOf();
    assert.deepEqual(later, earlier);
  });

  it('200: a change of a person to the stored values writes no audit entry', async () => {
    const tenant = await service.tenant();
    const staffId = await personId(service, tenant.tenantId, 'staff');
    const entries = (await auditOf(service, tenant, staffId)).length;
    const { body } = await changePerson(service, tenant, staffId, {
      role: 'staff',
      areas: ['deliveries', 'orders', 'menu', 'hotel'],
    });
    assert.equal(body.role, 'staff');
    assert.equal((await changePerson(service, tenant, staffId, {})).status, 200);
    assert.equal((await auditOf(service, tenant, staffId)).length, entries);
  });

  it('401: disabling a person ends all sessions and tokens, on every node, and they stay ended after the person is enabled', async () => {
    const node = await startService({ beside: service });
    try {
      const tenant = await service.tenant();
      const { id, email, headers } = await addPerson(service, tenant);
      const token = (await signInForToken(service, email)).body.access_token;
      const bearer = { authorization: `Bearer ${token}` };
      for (const each of [headers, bearer]) {
        assert.equal((await node.call('GET', '/v1/staff/me/', { headers: each })).status, 200);
      }
      assert.equal((await changePerson(service, tenant, id, { is_active: false })).body.is_active, false);
      assert.equal((await signInForToken(service, email)).status, 401);
      for (const isActive of [false, true]) {
        await changePerson(service, tenant, id, { is_active: isActive });
        for (const each of [headers, bearer]) {
          assert.equal((await node.call('GET', '/v1/staff/me/', { headers: each })).status, 401);
        }
      }
      assert.equal((await signInForToken(service, email)).status, 200);
    } finally {
      await node.close();
    }
  });

  it('409: the last active owner cannot be disabled or become staff while the other owner is invited or disabled', async () => {
    const tenant = await service.tenant();
    const ownerId = await personId(service, tenant.tenantId, 'owner');
    const invited = await invite(service, tenant, { role: 'owner' });
    for (const json of [{ is_active: false }, { role: 'staff' }]) {
      assertConflict(await changePerson(service, tenant, ownerId, json));
    }
    assert.equal((await choosePassword(service, invited)).status, 200);
    assert.equal((await changePerson(service, tenant, invited.body.person.id, { is_active: false })).status, 200);
    assertConflict(await changePerson(service, tenant, ownerId, { is_active: false }));
    assert.equal((await changePerson(service, tenant, invited.body.person.id, { is_active: true })).status, 200);
    assert.equal((await changePerson(service, tenant, ownerId, { role: 'staff' })).status, 200);
  });

  it('200: if calls on two nodes disable both owners at the same time, only one call succeeds, and one owner stays active; 409, 401: the other call is refused', async () => {
    const node = await startService({ beside: service });
    try {
      for (let round = 0; round < 5; round += 1) {
        const tenant = await service.tenant();
        const ownerId = await personId(service, tenant.tenantId, 'owner');
        const { id: secondId, headers } = await addPerson(service, tenant, { role: 'owner' });
        const disable = { json: { is_active: false } };
        const answers = await Promise.all([
          service.call('PATCH', `${PEOPLE}${secondId}/`, { headers: tenant.owner, ...disable }),
          node.call('PATCH', `${PEOPLE}${ownerId}/`, { headers, ...disable }),
        ]);
        const active = await service.database.db
          .selectFrom('app_user')
          .select('id')
          .where('tenant_id', '=', tenant.tenantId)
          .where('role', '=', 'owner')
          .where('is_active', '=', true)
          .execute();
        assert.equal(active.length, 1);
        const [first, second = 0] = answers.map(({ status }) => status).sort((a, b) => a - b);
        // The other call gets 401 if the first call has ended before the service checks the caller of the other call.
        assert.ok(first === 200 && [401, 409].includes(second), JSON.stringify(answers));
      }
    } finally {
      await node.close();
    }
  });

  it('200: a change of a person waits for a row lock on this person or on an owner, but not for a row lock on another member of staff', async () => {
    const tenant = await service.tenant();
    const staffId = await personId(service, tenant.tenantId, 'staff');
    const { id } = await addPerson(service, tenant);
    const { db } = service.database;
    /** Changes the person while another person is locked, and calls `during` before the lock ends. */
    const changeBesideLock = async (lockedId: string, during: (change: Promise<Answer>) => Promise<unknown>) => {
      const change = await db.transaction().execute(async (tx) => {
        const locked = tx.selectFrom('app_user').select('id').where('tenant_id', '=', tenant.tenantId);
        await locked.where('id', '=', lockedId).forUpdate().execute();
        const started = changePerson(service, tenant, id, { name: lockedId });
        await during(started);
        return { started };
      });
      assert.equal((await change.started).status, 200);
    };
    // If this change waited for the lock, it would fail at the time limit of its statement, because the lock ends only after the change.
    await changeBesideLock(staffId, (change) => change);
    for (const lockedId of [id, await personId(service, tenant.tenantId, 'owner')]) {
      await changeBesideLock(lockedId, async (change) => {
        let isOver = false;
        void change.then(() => (isOver = true));
        await eventually(async () => isOver || (await countWaiting(db)) > 0, 'statement that waits for a lock');
        assert.equal(isOver, false, 'the change waits for the lock');
      });
    }
  });
});

describe('POST /v1/staff/people/{id}/reset/', () => {
  it('200: a person sets a new password with a reset link; 401: the old password, session, token and earlier link are refused', async () => {
    const tenant = await service.tenant();
    const { id, email, headers } = await addPerson(service, tenant);
    const bearer = { authorization: `Bearer ${(await signInForToken(service, email)).body.access_token}` };
    const [first, second] = [await resetPerson(service, tenant, id), await resetPerson(service, tenant, id)];
    assert.equal(second.status, 200);
    assert.match(second.body.reset_url, new RegExp(`^${service.url}/console/#reset=[\\w-]{64}$`));
    assert.equal(second.body.person.is_invited, false);
    assert.equal((await signInForToken(service, email)).status, 401);
    assert.deepEqual([(await readMe(service, headers)).status, (await readMe(service, bearer)).status], [401, 401]);
    assert.equal((await choosePassword(service, first)).status, 401);
    const accepted = await choosePassword(service, second, 'quite another password');
    assert.equal(accepted.status, 200);
    assert.equal((await readMe(service, cookieOf(accepted))).body.person.id, id);
    assert.deepEqual([(await readMe(service, headers)).status, (await readMe(service, bearer)).status], [401, 401]);
    assert.deepEqual(
      [
        (await signInForToken(service, email)).status,
        (await signInForToken(service, email, 'quite another password')).status,
      ],
      [401, 200],
    );
    const actions = (await auditOf(service, tenant, id))
      .map(({ action }: { action: string }) => action)
      .filter((action: string) => action.startsWith('user.'));
    assert.deepEqual(actions.slice(0, 3), ['user.password_changed', 'user.link_created', 'user.password_changed']);
  });

  it('200: a reset of an invited person replaces the expired invitation with one that works; 401: the expired one is refused', async () => {
    const tenant = await service.tenant();
    const first = await invite(service, tenant);
    await expireInvitation(service, first.body.person.email);
    const second = await resetPerson(service, tenant, first.body.person.id);
    assert.equal(second.status, 200);
    assert.match(second.body.reset_url, /#invite=/);
    assert.equal(second.body.person.is_invited, true);
    assert.equal((await choosePassword(service, first)).status, 401);
    assert.equal((await choosePassword(service, second)).status, 200);
  });

  it('409: a reset of a disabled person is refused, and the password stays the same', async () => {
    const tenant = await service.tenant();
    const { id, email } = await addPerson(service, tenant);
    await changePerson(service, tenant, id, { is_active: false });
    assertConflict(await resetPerson(service, tenant, id));
    await changePerson(service, tenant, id, { is_active: true });
    assert.equal((await signInForToken(service, email)).status, 200);
  });
});

it('neither the stored links nor the audit trail contain the token of an invitation link or a reset link', async () => {
  const tenant = await service.tenant();
  const tokens = [
    tokenOf(await invite(service, tenant)),
    tokenOf(await resetPerson(service, tenant, await personId(service, tenant.tenantId, 'staff'))),
  ];
  const { rows } = await sql<{ text: string }>`
    SELECT to_jsonb(t)::text AS text FROM one_time_link AS t UNION ALL SELECT to_jsonb(t)::text FROM audit_entry AS t
  `.execute(service.database.db);
  const text = rows.map((row) => row.text).join('\n');
  assert.ok(text.includes('secret_hash') && text.includes('user.link_created'));
  for (const token of tokens) {
    assert.ok(!text.includes(token) && !text.includes(Buffer.from(token, 'base64url').toString('hex')));
  }
});
