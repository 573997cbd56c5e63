import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertConflict,
  auditOf,
  changePerson,
  choosePassword,
  cookieOf,
  expireInvitation,
  invite,
  listPeople,
  NEW_PASSWORD,
  newEmail,
  PEOPLE,
  readMe,
  resetPerson,
  signInForToken,
} from '#test/support/people.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { personId } from '#test/support/sessions.ts';

const service = await useService();
const other = await service.tenant();

describe('GET /v1/staff/people/', () => {
  it('200: the list shows the people of the tenant, newest first, with the documented fields, and no person of another tenant', async () => {
    const tenant = await service.tenant();
    const invited = (await invite(service, tenant, { name: 'Rui Matos', areas: ['menu', 'orders'] })).body.person;
    const people = await listPeople(service, tenant);
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

  it('200: after a person has made a call, last_seen_at in the list of people is the time of this call', async () => {
    const node = await startService({ beside: service });
    const tenant = await service.tenant();
    const staffId = await personId(service, tenant.tenantId, 'staff');
    await node.call('GET', '/v1/staff/me/', { headers: tenant.staff });
    await node.close(); // Before a node stops, it writes the times of the last calls.
    const person = (await listPeople(service, tenant)).find(({ id }: { id: string }) => id === staffId);
    assert.ok(Math.abs(Date.parse(person.last_seen_at) - Date.now()) < 60_000, person.last_seen_at);
  });
});

describe('POST /v1/staff/people/', () => {
  it('201: without PUBLIC_URL, an invitation returns the person, and a link that begins with the URL on which the process listens and expires in 3 days', async () => {
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
    const entries = (await auditOf(service, tenant, id)).map(
      ({ action, actor }: { action: string; actor: unknown }) => [action, (actor as { type: string }).type],
    );
    assert.deepEqual(entries, [
      ['user.link_created', 'user'],
      ['user.created', 'user'],
    ]);
  });

  it('201: if PUBLIC_URL is set, an invitation link begins with PUBLIC_URL, and not with the Host or X-Forwarded-Host header of the request', async () => {
    const publicUrl = 'https://rooms.example/base';
    const node = await startService({ beside: service, config: { publicUrl, trustedProxies: ['127.0.0.1'] } });
    try {
      const { owner } = await service.tenant();
      const headers = { ...owner, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
      const json = { email: newEmail(), role: 'staff' };
      const { status, body } = await node.call('POST', PEOPLE, { headers, json });
      assert.equal(status, 201);
      assert.ok(body.invite_url.startsWith(`${publicUrl}/console/#invite=`), body.invite_url);
      const without = await service.call('POST', PEOPLE, { headers, json: { ...json, email: newEmail() } });
      assert.ok(without.body.invite_url.startsWith(`${service.url}/console/#invite=`), without.body.invite_url);
    } finally {
      await node.close();
    }
  });

  it('201: repeated areas of an invited person are stored once, in a fixed order, and an owner gets all areas', async () => {
    const tenant = await service.tenant();
    const staff = await invite(service, tenant, { areas: ['rates', 'orders', 'rates'] });
    assert.deepEqual(staff.body.person.areas, ['orders', 'rates']);
    const owner = await invite(service, tenant, { role: 'owner', areas: ['menu'] });
    assert.equal(owner.body.person.areas.length, 5);
    const demoted = await changePerson(service, tenant, owner.body.person.id, { role: 'staff' });
    assert.deepEqual(demoted.body.areas, [], 'the areas that were sent for an owner are ignored');
  });

  it('201: spaces and invisible characters around the e-mail and the name of a person are not stored, and a sign-in ignores them', async () => {
    const email = newEmail();
    const mark = '\uFEFF\u202A \u00A0';
    const invited = await invite(service, other, { email: `${mark}${email}${mark}`, name: `${mark}Rui Matos\u202C` });
    assert.equal(invited.status, 201, invited.text);
    assert.deepEqual([invited.body.person.email, invited.body.person.name], [email, 'Rui Matos']);
    assert.equal((await choosePassword(service, invited)).status, 200);
    assert.equal((await signInForToken(service, `${mark}${email.toUpperCase()}\u200F`)).status, 200);
    assert.equal((await invite(service, other, { name: mark })).status, 400);
  });

  it('401: an invited person who has not chosen a password cannot sign in', async () => {
    const tenant = await service.tenant();
    const { email } = (await invite(service, tenant)).body.person;
    for (const password of ['', 'null', NEW_PASSWORD].filter((text) => text !== '')) {
      assert.equal((await signInForToken(service, email, password)).status, 401);
    }
  });

  it('409: an invitation is refused if its e-mail, in any letter case, has an account or an open invitation in any tenant', async () => {
    const tenant = await service.tenant();
    const { email } = (await invite(service, other)).body.person;
    const { slug } = tenant.document;
    const taken = [email, email.toUpperCase(), `owner@${slug}.example`, `owner@${other.document.slug}.example`];
    for (const each of taken) {
      assertConflict(await invite(service, tenant, { email: each }));
    }
    assert.equal((await listPeople(service, tenant)).length, 2);
  });

  it('201, 409: of 8 invitations of one e-mail by two tenants at the same time, exactly one gets 201 and the others get 409', async () => {
    const [one, two] = [await service.tenant(), await service.tenant()];
    const email = newEmail();
    const tenants = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : two));
    const statuses = (await Promise.all(tenants.map((tenant) => invite(service, tenant, { email })))).map(
      ({ status }) => status,
    );
    assert.deepEqual(
      statuses.sort((a, b) => a - b),
      [201, 409, 409, 409, 409, 409, 409, 409],
    );
    assert.equal((await listPeople(service, one)).length + (await listPeople(service, two)).length, 5);
  });

  it('201: after an invitation has expired, the same tenant invites the e-mail again, and the person keeps the id', async () => {
    const tenant = await service.tenant();
    const first = await invite(service, tenant, { areas: ['menu'] });
    const { id, email } = first.body.person;
    await changePerson(service, tenant, id, { is_active: false });
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
    assertConflict(await resetPerson(service, one, id));
    assertConflict(await invite(service, one, { email }));
    assert.equal((await choosePassword(service, first)).status, 401);
    assert.equal((await choosePassword(service, second)).status, 200);
    assert.equal(
      (
        await readMe(
          service,
          cookieOf(await choosePassword(service, await resetPerson(service, two, second.body.person.id))),
        )
      ).body.tenant.id,
      two.tenantId,
    );
  });
});
