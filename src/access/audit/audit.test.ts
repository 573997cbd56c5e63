import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallOptions } from '#test/support/http.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { OWNER_PASSWORD, sampleHotel } from '#test/support/tenants.ts';
import { eventually } from '#test/support/webhooks.ts';
import { entriesOf } from '#test/support/lists.ts';
import { setPassword } from '../tenants/tenants.ts';
import type { AuditEntry } from './schema.ts';

const { service, tenant } = await useRestaurant({ features: ['restaurant', 'hotel'], properties: sampleHotel() });

describe('GET /v1/staff/audit/', () => {
  async function trail(target: TestTenant = tenant): Promise<AuditEntry[]> {
    return await entriesOf(service, '/v1/staff/audit/', target.owner);
  }

  /** Makes a call, checks its status, and returns the entries that it added to the audit trail, newest first. */
  async function addedBy(method: string, path: string, options: CallOptions, status: number) {
    const earlier = (await trail()).length;
    const answer = await service.call(method, path, options);
    assert.equal(answer.status, status, answer.text);
    const now = await trail();
    return { answer, added: now.slice(0, now.length - earlier) };
  }

  /**
   * Asserts that the call added exactly one entry, and that the entry has exactly the documented keys. Returns the entry without its id,
   * its time, and the names of its actor and subject.
   */
  function only(added: AuditEntry[]) {
    assert.equal(added.length, 1, JSON.stringify(added));
    const [entry] = added;
    assert.ok(entry);
    assert.deepEqual(Object.keys(entry), ['id', 'at', 'actor', 'action', 'subject', 'subject_label', 'details']);
    assert.ok(Math.abs(Date.parse(entry.at) - Date.now()) < 60_000);
    const { actor, action, subject, details } = entry;
    return { actor: { type: actor.type, id: actor.id }, action, subject, details };
  }

  async function ownerActor() {
    const owner = await service.database.db
      .selectFrom('app_user')
      .select('id')
      .where('tenant_id', '=', tenant.tenantId)
      .where('role', '=', 'owner')
      .executeTakeFirstOrThrow();
    return { type: 'user', id: owner.id };
  }

  for (const [audience, path] of [
    ['third_party', '/v1/third-party/credentials/'],
    ['pms', '/v1/channel-manager/credentials/'],
  ] as const) {
    it(`200: creating, rotating and revoking a ${audience} credential add an audit entry each, and a second revoke adds none`, async () => {
      const actor = await ownerActor();
      const headers = tenant.owner;
      const details = { audience, label: 'Till' };
      const made = await addedBy('POST', path, { headers, json: { label: 'Till' } }, 201);
      const subject = made.answer.body.id;
      assert.deepEqual(only(made.added), { actor, action: 'credential.created', subject, details });
      const rotated = await addedBy('POST', `${path}${subject}/rotate/`, { headers }, 200);
      assert.deepEqual(only(rotated.added), { actor, action: 'credential.rotated', subject, details });
      const revoked = await addedBy('POST', `${path}${subject.toUpperCase()}/revoke/`, { headers }, 200);
      assert.deepEqual(only(revoked.added), { actor, action: 'credential.revoked', subject, details });
      const again = await addedBy('POST', `${path}${subject}/revoke/`, { headers }, 200);
      assert.deepEqual(again.added, []);
      const refused = await addedBy('POST', `${path}${subject}/rotate/`, { headers }, 409);
      assert.deepEqual(refused.added, []);
      assert.ok(!JSON.stringify(await trail()).includes(rotated.answer.body.api_secret));
    });
  }

  it('a password change by the operator adds one audit entry, and a second entry if the change also enables a disabled user', async () => {
    const other = await service.tenant();
    const [, staff] = other.document.users ?? [];
    assert.ok(staff);
    const { id: subject } = await service.database.db
      .selectFrom('app_user')
      .select('id')
      .where('email', '=', staff.email)
      .executeTakeFirstOrThrow();
    const entry = (action: string) => ({
      actor: { type: 'operator', id: null, name: null },
      action,
      subject,
      details: { email: staff.email },
    });
    const setNewPassword = async () => {
      const earlier = (await trail(other)).length;
      await setPassword(service.database.db, other.tenantId, staff.email, 'a new password');
      const now = await trail(other);
      return now.slice(0, now.length - earlier).map(({ id, at, subject_label, ...rest }) => rest);
    };
    assert.deepEqual(await setNewPassword(), [entry('user.password_changed')]);
    await service.apply({ ...other.document, users: other.document.users?.slice(0, 1) });
    assert.deepEqual(await setNewPassword(), [entry('user.enabled'), entry('user.password_changed')]);
  });

  it('200: the first registration of a webhook URL adds an audit entry with the credential id, and a repeated one adds none', async () => {
    const { credential, partner } = await service.credential(tenant.tenantId);
    const json = { webhook_url: 'https://example.com/hooks' };
    const { answer, added } = await addedBy('POST', '/v1/third-party/webhook/', { headers: partner, json }, 200);
    assert.deepEqual(only(added), {
      actor: { type: 'credential', id: credential.id },
      action: 'webhook.registered',
      subject: credential.id,
      details: json,
    });
    assert.ok(!JSON.stringify(await trail()).includes(answer.body.webhook_secret));
    const again = await addedBy('POST', '/v1/third-party/webhook/', { headers: partner, json }, 200);
    assert.deepEqual(again.added, []);
  });

  it('200: creating and revoking a channel each add one audit entry, and a second revoke adds none', async () => {
    const actor = await ownerActor();
    const path = '/v1/channel-manager/channels/';
    const made = await addedBy('POST', path, { headers: tenant.owner, json: { source: 'booking' } }, 201);
    const subject = made.answer.body.id;
    const details = { source: 'booking' };
    assert.deepEqual(only(made.added), { actor, action: 'channel.created', subject, details });
    const revoked = await addedBy('POST', `${path}${subject}/revoke/`, { headers: tenant.owner }, 200);
    assert.deepEqual(only(revoked.added), { actor, action: 'channel.revoked', subject, details });
    const again = await addedBy('POST', `${path}${subject}/revoke/`, { headers: tenant.owner }, 200);
    assert.deepEqual(again.added, []);
  });

  it('200, 404: writing rates or restrictions adds an audit entry with the values from the PMS, but a refused call adds no entry', async () => {
    const made = await service.call('POST', '/v1/channel-manager/credentials/', { headers: tenant.owner, json: {} });
    const headers = { 'x-pms-api-key': made.body.api_key, 'x-pms-api-secret': made.body.api_secret };
    const actor = { type: 'credential', id: made.body.id };
    const plan = await service.database.db
      .selectFrom('rate_plan')
      .select('id')
      .where('tenant_id', '=', tenant.tenantId)
      .executeTakeFirstOrThrow();
    const rates = [{ date: '2030-02-01', price: '99.50' }];
    const restrictions = [{ date: '2030-02-01', stop_sell: true, min_nights: 2 }];
    const written = await addedBy(
      'PUT',
      '/v1/channel-manager/pms/rates/',
      { headers, json: { rate_plan_id: plan.id, rates } },
      200,
    );
    assert.deepEqual(only(written.added), {
      actor,
      action: 'rates.written',
      subject: plan.id,
      details: { entries: rates },
    });
    const restricted = await addedBy(
      'PUT',
      '/v1/channel-manager/pms/restrictions/',
      { headers, json: { rate_plan_id: plan.id, restrictions } },
      200,
    );
    assert.deepEqual(only(restricted.added), {
      actor,
      action: 'restrictions.written',
      subject: plan.id,
      details: { entries: restrictions },
    });
    const unknown = '00000000-0000-4000-8000-000000000000';
    const refused = await addedBy(
      'PUT',
      '/v1/channel-manager/pms/rates/',
      { headers, json: { rate_plan_id: unknown, rates } },
      404,
    );
    assert.deepEqual(refused.added, []);
  });

  it('401, 200: a failed sign-in adds an audit entry with the client address but no password, and a successful sign-in adds no entry', async () => {
    const email = String(tenant.document.users?.[0]?.email);
    const earlier = (await trail()).length;
    const json = { email, password: 'quite the wrong one' };
    assert.equal((await service.call('POST', '/v1/auth/token/', { json })).status, 401);
    // The service writes the entry of a failed sign-in after its response. So the test waits until the entry appears.
    const now = await eventually(async () => {
      const entries = await trail();
      return entries.length > earlier && entries;
    }, 'entry of the failed sign-in');
    const entry = only(now.slice(0, now.length - earlier));
    assert.deepEqual(entry, {
      actor: { type: 'anonymous', id: null },
      action: 'sign_in.failed',
      subject: (await ownerActor()).id,
      details: { email, address: '127.0.0.1' },
    });
    assert.ok(!JSON.stringify(now).includes(json.password));
    const good = await addedBy('POST', '/v1/auth/token/', { json: { email, password: OWNER_PASSWORD } }, 200);
    assert.deepEqual(good.added, []);
  });

  it("200: an owner gets only the audit entries of the owner's tenant, newest first", async () => {
    const whole = await trail();
    assert.deepEqual(
      whole.map((entry) => entry.id),
      whole
        .map((entry) => entry.id)
        .sort()
        .reverse(),
    );
    const other = await service.tenant();
    const operator = { type: 'operator', id: null, name: null };
    const users = await service.database.db
      .selectFrom('app_user')
      .select('id')
      .where('tenant_id', '=', other.tenantId)
      .orderBy('id', 'desc')
      .execute();
    assert.deepEqual(
      (await trail(other)).map(({ actor, action, subject }) => ({ actor, action, subject })),
      [
        { actor: operator, action: 'credential.created', subject: other.credential.id },
        { actor: operator, action: 'tenant.applied', subject: String(other.tenantId) },
        ...users.map(({ id }) => ({ actor: operator, action: 'user.created', subject: id })),
      ],
    );
  });
});
