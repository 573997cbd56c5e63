import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  choosePassword,
  cookieOf,
  expireInvitation,
  invite,
  NEW_PASSWORD,
  newEmail,
  PEOPLE,
  tokenOf,
} from '#test/support/people.ts';
import { type Answer, startService, type TestService, type TestTenant } from '#test/support/service.ts';

let service: TestService;
let other: TestTenant;
before(async () => {
  service = await startService();
  other = await service.tenant();
});
after(() => service.close());

const list = async ({ owner }: TestTenant) => (await service.call('GET', PEOPLE, { headers: owner })).body;
const change = (tenant: TestTenant, id: string, json: unknown) =>
  service.call('PATCH', `${PEOPLE}${id}/`, { headers: tenant.owner, json });
const reset = (tenant: TestTenant, id: string) =>
  service.call('POST', `${PEOPLE}${id}/reset/`, { headers: tenant.owner });
const signIn = (email: string, password = NEW_PASSWORD) =>
  service.call('POST', '/v1/auth/token/', { json: { email, password } });
const me = (headers: Record<string, string>) => service.call('GET', '/v1/staff/me/', { headers });

/** Returns the ids of the owner and of the member of the staff of the tenant document. */
async function idsOf(tenant: TestTenant): Promise<{ ownerId: string; staffId: string }> {
  const people = await list(tenant);
  const idOf = (role: string) => people.find((person: { role: string }) => person.role === role).id;
  return { ownerId: idOf('owner'), staffId: idOf('staff') };
}

/** Invites a person, and accepts the invitation. */
async function addPerson(tenant: TestTenant, wanted: Record<string, unknown> = {}) {
  const invited = await invite(service, tenant, wanted);
  const accepted = await choosePassword(service, invited);
  assert.equal(accepted.status, 200, accepted.text);
  const { id, email } = invited.body.person;
  return { id: id as string, email: email as string, headers: cookieOf(accepted) };
}

async function auditOf(tenant: TestTenant, subject: string) {
  const { body } = await service.call('GET', '/v1/staff/audit/', { headers: tenant.owner });
  return body.filter((entry: { subject: string }) => entry.subject === subject);
}

function assertConflict(answer: Answer): void {
  assert.equal(answer.status, 409, answer.text);
  assert.equal(answer.body.code, 'invalid_status_transition');
}

describe('GET /v1/staff/people/', () => {
  it('200: the list shows the people of the tenant, newest first, with the documented fields, and no person of another tenant', async () => {
    const tenant = await service.tenant();
    const invited = (await invite(service, tenant, { name: 'Rui Matos', areas: ['menu', 'orders'] })).body.person;
    const people = await list(tenant);
    assert.deepEqual(people[0], invited);
    assert.deepEqual(Object.keys(people[0]), [
      'id',
      'name',
      'email',
      'role',
      'areas',
      'is_active',
      'is_invited',
      'created_at',
      'last_seen_at',
    ]);
    const { slug } = tenant.document;
    const shown = people
      .slice(1)
      .map(({ email, role, areas, is_active, is_invited }: typeof invited) => [
        email,
        role,
        areas.length,
        is_active,
        is_invited,
      ]);
    assert.deepEqual(shown.sort(), [
      [`owner@${slug}.example`, 'owner', 5, true, false],
      [`staff@${slug}.example`, 'staff', 4, true, false],
    ]);
  });

  it('200: the list is paged with page and page_size', async () => {
    const { owner } = await service.tenant();
    const { body } = await service.call('GET', `${PEOPLE}?page=2&page_size=1`, { headers: owner });
    assert.deepEqual([body.count, body.results.length, body.next], [2, 1, null]);
  });

  it('200: last_seen_at is null before the first call of a person, and then the time of a call', async () => {
    const node = await startService({ beside: service });
    const tenant = await service.tenant();
    const { staffId } = await idsOf(tenant);
    await node.call('GET', '/v1/staff/me/', { headers: tenant.staff });
    await node.close(); // Writes the last uses.
    const person = (await list(tenant)).find(({ id }: { id: string }) => id === staffId);
    assert.ok(Math.abs(Date.parse(person.last_seen_at) - Date.now()) < 60_000, person.last_seen_at);
  });

  it('403: staff may not list, invite, change or reset people; 401: without credentials', async () => {
    const tenant = await service.tenant();
    const { ownerId } = await idsOf(tenant);
    const json = { email: newEmail(), role: 'owner' };
    const calls: [string, string, unknown][] = [
      ['GET', PEOPLE, undefined],
      ['POST', PEOPLE, json],
      ['PATCH', `${PEOPLE}${ownerId}/`, { name: 'X' }],
      ['POST', `${PEOPLE}${ownerId}/reset/`, undefined],
    ];
    for (const [method, path, body] of calls) {
      const options = body === undefined ? {} : { json: body };
      assert.equal((await service.call(method, path, { headers: tenant.staff, ...options })).status, 403, path);
      assert.equal((await service.call(method, path, options)).status, 401, path);
    }
  });
});

describe('POST /v1/staff/people/', () => {
  it('201: the response has the invited person, a link that begins with the address of the process, and its end after 3 days', async () => {
    const tenant = await service.tenant();
    const email = newEmail();
    const { status, body, headers } = await invite(service, tenant, { email: email.toUpperCase(), name: 'Rui' });
    assert.equal(status, 201);
    assert.equal(headers.get('cache-control'), 'no-store');
    const { person, invite_url, expires_at } = body;
    const { id, created_at, ...rest } = person;
    assert.deepEqual(rest, {
      name: 'Rui',
      email,
      role: 'staff',
      areas: [],
      is_active: true,
      is_invited: true,
      last_seen_at: null,
    });
    assert.match(invite_url, new RegExp(`^${service.url}/console/#invite=[\\w-]{64}$`));
    assert.ok(Math.abs(Date.parse(expires_at) - Date.parse(created_at) - 3 * 86_400_000) < 10_000);
    const entries = (await auditOf(tenant, id)).map(({ action, actor }: { action: string; actor: unknown }) => [
      action,
      (actor as { type: string }).type,
    ]);
    assert.deepEqual(entries, [
      ['user.link_created', 'user'],
      ['user.created', 'user'],
    ]);
  });

  it('201: the link begins with PUBLIC_URL, and never with the Host or X-Forwarded-Host of the request', async () => {
    const publicUrl = 'https://rooms.example/base';
    const node = await startService({ beside: service, config: { publicUrl, trustedProxies: ['127.0.0.1'] } });
    try {
      const { owner } = await service.tenant();
      const headers = { ...owner, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
      const json = { email: newEmail(), role: 'staff' };
      const { body } = await node.call('POST', PEOPLE, { headers, json });
      assert.ok(body.invite_url.startsWith(`${publicUrl}/console/#invite=`), body.invite_url);
      const without = await service.call('POST', PEOPLE, { headers, json: { ...json, email: newEmail() } });
      assert.ok(without.body.invite_url.startsWith(`${service.url}/console/#invite=`), without.body.invite_url);
    } finally {
      await node.close();
    }
  });

  it('201: areas are kept in their order without repetitions, and an owner has all areas whatever is sent', async () => {
    const tenant = await service.tenant();
    const staff = await invite(service, tenant, { areas: ['rates', 'orders', 'rates'] });
    assert.deepEqual(staff.body.person.areas, ['orders', 'rates']);
    const owner = await invite(service, tenant, { role: 'owner', areas: ['menu'] });
    assert.equal(owner.body.person.areas.length, 5);
  });

  it('401: an invited person cannot sign in with any password, and the check of the password does not fail', async () => {
    const tenant = await service.tenant();
    const { email } = (await invite(service, tenant)).body.person;
    for (const password of ['', 'null', NEW_PASSWORD].filter((text) => text !== '')) {
      assert.equal((await signIn(email, password)).status, 401);
    }
  });

  it('409: an e-mail that has an account or an open invitation in any tenant is refused, in any letter case', async () => {
    const tenant = await service.tenant();
    const { email } = (await invite(service, other)).body.person;
    const { slug } = tenant.document;
    const taken = [email, email.toUpperCase(), `owner@${slug}.example`, `owner@${other.document.slug}.example`];
    for (const each of taken) {
      assertConflict(await invite(service, tenant, { email: each }));
    }
    assert.equal((await list(tenant)).length, 2);
  });

  it('201: of 8 invitations of one e-mail by two tenants at the same time, exactly one succeeds and the other ones get 409', async () => {
    const [one, two] = [await service.tenant(), await service.tenant()];
    const email = newEmail();
    const tenants = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : two));
    const statuses = (await Promise.all(tenants.map((tenant) => invite(service, tenant, { email })))).map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses.sort(), [201, 409, 409, 409, 409, 409, 409, 409]);
    assert.equal((await list(one)).length + (await list(two)).length, 5);
  });

  it('201: after an invitation has expired, the same tenant invites the e-mail again, and the person keeps the id', async () => {
    const tenant = await service.tenant();
    const first = await invite(service, tenant, { areas: ['menu'] });
    const { id, email } = first.body.person;
    await change(tenant, id, { is_active: false });
    await expireInvitation(service, email);
    assert.equal((await choosePassword(service, first)).status, 401);
    const second = await invite(service, tenant, { email, role: 'owner', name: 'Again' });
    assert.equal(second.status, 201, second.text);
    const { person } = second.body;
    assert.deepEqual([person.id, person.role, person.name, person.is_active], [id, 'owner', 'Again', true]);
    assert.equal((await choosePassword(service, first)).status, 401);
    assert.equal((await choosePassword(service, second)).status, 200);
    assertConflict(await invite(service, tenant, { email }));
  });

  it('201: after an invitation has expired, another tenant invites the e-mail; 409: the first tenant then cannot renew its invitation', async () => {
    const [one, two] = [await service.tenant(), await service.tenant()];
    const first = await invite(service, one);
    const { id, email } = first.body.person;
    await expireInvitation(service, email);
    const second = await invite(service, two, { email });
    assert.equal(second.status, 201, second.text);
    assertConflict(await reset(one, id));
    assertConflict(await invite(service, one, { email }));
    assert.equal((await choosePassword(service, first)).status, 401);
    assert.equal((await choosePassword(service, second)).status, 200);
    assert.equal(
      (await me(cookieOf(await choosePassword(service, await reset(two, second.body.person.id))))).body.tenant.id,
      two.tenantId,
    );
  });

  it('400: a missing or invalid e-mail, role, name or area is refused with the path of the field', async () => {
    const { owner } = await service.tenant();
    const good = { email: newEmail(), role: 'staff' };
    const faults: [unknown, string][] = [
      [{ role: 'staff' }, 'email: is required'],
      [{ ...good, email: 'nobody' }, 'email: '],
      [{ ...good, email: 'a@b.example\r\nBcc: c@d.example' }, 'email: '],
      [{ ...good, email: 'a@b.example, c@d.example' }, 'email: '],
      [{ email: good.email }, 'role: is required'],
      [{ ...good, role: 'admin' }, 'role: '],
      [{ ...good, name: '' }, 'name: must not be empty'],
      [{ ...good, areas: ['kitchen'] }, 'areas.0: '],
      [{ ...good, areas: 'orders' }, 'areas: '],
    ];
    for (const [json, message] of faults) {
      const { status, body } = await service.call('POST', PEOPLE, { headers: owner, json });
      assert.deepEqual([status, body.code], [400, 'invalid_request'], message);
      assert.ok(body.message.startsWith(message), body.message);
    }
  });
});

describe('PATCH /v1/staff/people/{id}/', () => {
  it('200: name, role and areas change, the next call of the person sees them, and the audit trail has the old and the new values', async () => {
    const tenant = await service.tenant();
    const { id, headers } = await addPerson(tenant, { areas: ['menu'] });
    const changed = await change(tenant, id, { name: 'Ana', areas: ['orders', 'hotel'] });
    assert.equal(changed.status, 200);
    assert.deepEqual(
      [changed.body.name, changed.body.areas, changed.body.is_invited],
      ['Ana', ['orders', 'hotel'], false],
    );
    const { person } = (await me(headers)).body;
    assert.deepEqual([person.name, person.areas], ['Ana', ['orders', 'hotel']]);
    await change(tenant, id, { role: 'owner', areas: [] });
    assert.equal((await service.call('GET', PEOPLE, { headers })).status, 200);
    await change(tenant, id, { role: 'staff' });
    assert.equal((await service.call('GET', PEOPLE, { headers })).status, 403);
    assert.deepEqual((await me(headers)).body.person.areas, ['orders', 'hotel']);
    const entries = (await auditOf(tenant, id)).filter(({ action }: { action: string }) => action === 'user.changed');
    assert.deepEqual(entries.at(-1).details.areas, { from: ['menu'], to: ['orders', 'hotel'] });
    assert.deepEqual(entries[0].details.role, { from: 'owner', to: 'staff' });
  });

  it('200: a change that changes nothing writes no audit entry', async () => {
    const tenant = await service.tenant();
    const { staffId } = await idsOf(tenant);
    const before = (await auditOf(tenant, staffId)).length;
    const { body } = await change(tenant, staffId, { role: 'staff', areas: ['deliveries', 'orders', 'menu', 'hotel'] });
    assert.equal(body.role, 'staff');
    assert.equal((await change(tenant, staffId, {})).status, 200);
    assert.equal((await auditOf(tenant, staffId)).length, before);
  });

  it('401: disabling a person ends all sessions and tokens, on every node, and enabling the person does not bring them back', async () => {
    const node = await startService({ beside: service });
    try {
      const tenant = await service.tenant();
      const { id, email, headers } = await addPerson(tenant);
      const token = (await signIn(email)).body.access_token;
      const bearer = { authorization: `Bearer ${token}` };
      for (const each of [headers, bearer]) {
        assert.equal((await node.call('GET', '/v1/staff/me/', { headers: each })).status, 200);
      }
      assert.equal((await change(tenant, id, { is_active: false })).body.is_active, false);
      assert.equal((await signIn(email)).status, 401);
      for (const isActive of [false, true]) {
        await change(tenant, id, { is_active: isActive });
        for (const each of [headers, bearer]) {
          assert.equal((await node.call('GET', '/v1/staff/me/', { headers: each })).status, 401);
        }
      }
      assert.equal((await signIn(email)).status, 200);
    } finally {
      await node.close();
    }
  });

  it('409: the last active owner cannot be disabled or become staff while the other owner is invited or disabled', async () => {
    const tenant = await service.tenant();
    const { ownerId } = await idsOf(tenant);
    const invited = await invite(service, tenant, { role: 'owner' });
    for (const json of [{ is_active: false }, { role: 'staff' }]) {
      assertConflict(await change(tenant, ownerId, json));
    }
    assert.equal((await choosePassword(service, invited)).status, 200);
    assert.equal((await change(tenant, invited.body.person.id, { is_active: false })).status, 200);
    assertConflict(await change(tenant, ownerId, { is_active: false }));
    assert.equal((await change(tenant, invited.body.person.id, { is_active: true })).status, 200);
    assert.equal((await change(tenant, ownerId, { role: 'staff' })).status, 200);
  });

  it('409: of changes that disable all owners at the same time, on two nodes, at least one is refused, and one owner stays', async () => {
    const node = await startService({ beside: service });
    try {
      for (let round = 0; round < 5; round += 1) {
        const tenant = await service.tenant();
        const { ownerId } = await idsOf(tenant);
        const { id: secondId, headers } = await addPerson(tenant, { role: 'owner' });
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
        assert.deepEqual(answers.filter(({ status }) => status === 200).length, 1, JSON.stringify(answers));
      }
    } finally {
      await node.close();
    }
  });

  it('404: an unknown id, a malformed id and the id of a person of another tenant get the same response', async () => {
    const tenant = await service.tenant();
    const { staffId } = await idsOf(other);
    for (const id of [staffId, '01a19b53-7418-7fd0-8d11-5a0c6b1a2e47', 'nobody', '%00']) {
      for (const answer of [await change(tenant, id, { name: 'X' }), await reset(tenant, id)]) {
        assert.ok(answer.status === 404 || id === '%00', answer.text);
        assert.ok([400, 404].includes(answer.status));
      }
    }
    assert.equal((await change(tenant, staffId, { name: 'X' })).body.message, 'No such person.');
  });

  it('400: an invalid field is refused with its path', async () => {
    const tenant = await service.tenant();
    const { staffId } = await idsOf(tenant);
    for (const [json, path] of [
      [{ is_active: 'no' }, 'is_active'],
      [{ role: null }, 'role'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ areas: ['all'] }, 'areas.0'],
    ] as const) {
      const { status, body } = await change(tenant, staffId, json);
      assert.equal(status, 400);
      assert.ok(body.message.startsWith(`${path}: `), body.message);
    }
  });
});

describe('POST /v1/staff/people/{id}/reset/', () => {
  it('200: the link sets a new password; 401: the old password, all sessions, all tokens and earlier links have ended', async () => {
    const tenant = await service.tenant();
    const { id, email, headers } = await addPerson(tenant);
    const bearer = { authorization: `Bearer ${(await signIn(email)).body.access_token}` };
    const [first, second] = [await reset(tenant, id), await reset(tenant, id)];
    assert.equal(second.status, 200);
    assert.match(second.body.reset_url, new RegExp(`^${service.url}/console/#reset=[\\w-]{64}$`));
    assert.equal(second.body.person.is_invited, false);
    assert.equal((await signIn(email)).status, 401);
    assert.deepEqual([(await me(headers)).status, (await me(bearer)).status], [401, 401]);
    assert.equal((await choosePassword(service, first)).status, 401);
    const accepted = await choosePassword(service, second, 'quite another password');
    assert.equal(accepted.status, 200);
    assert.equal((await me(cookieOf(accepted))).body.person.id, id);
    assert.deepEqual([(await me(headers)).status, (await me(bearer)).status], [401, 401]);
    assert.deepEqual(
      [(await signIn(email)).status, (await signIn(email, 'quite another password')).status],
      [401, 200],
    );
    const actions = (await auditOf(tenant, id))
      .map(({ action }: { action: string }) => action)
      .filter((action: string) => action.startsWith('user.'));
    assert.deepEqual(actions.slice(0, 3), ['user.password_changed', 'user.link_created', 'user.password_changed']);
  });

  it('200: a person who is still invited gets a new invitation, and the earlier invitation ends', async () => {
    const tenant = await service.tenant();
    const first = await invite(service, tenant);
    await expireInvitation(service, first.body.person.email);
    const second = await reset(tenant, first.body.person.id);
    assert.equal(second.status, 200);
    assert.match(second.body.reset_url, /#invite=/);
    assert.equal(second.body.person.is_invited, true);
    assert.equal((await choosePassword(service, first)).status, 401);
    assert.equal((await choosePassword(service, second)).status, 200);
  });

  it('409: a disabled person gets no link, and the password stays', async () => {
    const tenant = await service.tenant();
    const { id, email } = await addPerson(tenant);
    await change(tenant, id, { is_active: false });
    assertConflict(await reset(tenant, id));
    await change(tenant, id, { is_active: true });
    assert.equal((await signIn(email)).status, 200);
  });
});

it('the database has no token of a link, in any table', async () => {
  const tenant = await service.tenant();
  const tokens = [tokenOf(await invite(service, tenant)), tokenOf(await reset(tenant, (await idsOf(tenant)).staffId))];
  const { rows } = await sql<{ text: string }>`
    SELECT to_jsonb(t)::text AS text FROM one_time_link AS t UNION ALL SELECT to_jsonb(t)::text FROM audit_entry AS t
  `.execute(service.database.db);
  const text = rows.map((row) => row.text).join('\n');
  assert.ok(text.includes('secret_hash') && text.includes('user.link_created'));
  for (const token of tokens) {
    assert.ok(!text.includes(token) && !text.includes(Buffer.from(token, 'base64url').toString('hex')));
  }
});
