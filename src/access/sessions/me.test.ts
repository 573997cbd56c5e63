import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import {
  CONSOLE,
  consoleHeaders,
  ME,
  openSession,
  personId,
  SESSION,
  signIn,
  tokenOf,
} from '#test/support/sessions.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';
import { entriesOf } from '#test/support/lists.ts';

const PASSWORD = `${ME}password/`;
const NEW_PASSWORD = 'a password of tomorrow';

const hashes = countPasswordHashes();
const { service, tenant } = await useRestaurant();

const statusOf = async (headers: Record<string, string>, node = service) =>
  (await node.call('GET', ME, { headers })).status;
const trailOf = async ({ owner }: TestTenant) =>
  (await entriesOf(service, '/v1/staff/audit/', owner)) as {
    action: string;
    actor: object;
    subject: string;
    details: object;
  }[];

describe('PATCH /v1/staff/me/', () => {
  const patch = (json: unknown, headers = tenant.staff) => service.call('PATCH', ME, { headers, json });

  it('200: a person changes name and language, missing fields keep their values, and a new name adds one audit entry', async () => {
    const session = await openSession(service, tenant.tenantId, 'staff');
    const named = await patch({ name: 'Tiago Lopes', language: 'pt-BR' }, session.headers);
    assert.deepEqual([named.status, named.body.person.name, named.body.person.language], [200, 'Tiago Lopes', 'pt-BR']);
    assert.equal(named.body.session.id, session.id);
    await patch({ language: 'de' });
    await patch({ name: 'Tiago Lopes' });
    await patch({});
    const { body } = await service.call('GET', ME, { headers: session.headers });
    assert.deepEqual([body.person.name, body.person.language], ['Tiago Lopes', 'de']);
    const id = await personId(service, tenant.tenantId, 'staff');
    const entries = (await trailOf(tenant)).filter(({ action }) => action === 'user.changed');
    const details = { email: `staff@${tenant.document.slug}.example`, name: { from: null, to: 'Tiago Lopes' } };
    assert.deepEqual(
      entries.map((entry) => [entry.actor, entry.subject, entry.details]),
      [[{ type: 'user', id, name: 'Tiago Lopes' }, id, details]],
    );
  });

  it('200: a change of the own profile ignores role, areas and e-mail in the body', async () => {
    const json = { role: 'owner', areas: ['rates'], email: 'x@example.com', is_active: false };
    const { status, body } = await patch(json);
    assert.deepEqual([status, body.person.role, body.person.areas.includes('rates')], [200, 'staff', false]);
    assert.equal((await service.call('GET', '/v1/staff/audit/', { headers: tenant.staff })).status, 403);
  });
});

describe('POST /v1/staff/me/password/', () => {
  const change = (headers: Record<string, string>, current: string, next: unknown = NEW_PASSWORD) =>
    service.call('POST', PASSWORD, { headers, json: { current_password: current, new_password: next } });

  it('204: after a change of the password, the session of the call still works, and all other sessions and tokens of the person have ended', async (t) => {
    const node = await startService({ beside: service });
    t.after(() => node.close());
    const other = await service.tenant();
    const [current, second] = [
      await openSession(service, other.tenantId, 'owner'),
      await openSession(service, other.tenantId, 'owner'),
    ];
    const colleague = await openSession(service, other.tenantId, 'staff');
    assert.deepEqual([await statusOf(second.headers, node), await statusOf(other.owner, node)], [200, 200]);
    const answer = await change(current.headers, OWNER_PASSWORD);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    for (const each of [service, node]) {
      assert.deepEqual(
        [
          await statusOf(current.headers, each),
          await statusOf(second.headers, each),
          await statusOf(other.owner, each),
        ],
        [200, 401, 401],
      );
      assert.equal(await statusOf(colleague.headers, each), 200);
    }
    assert.equal((await signIn(service, other, 'owner')).status, 401);
    const json = { email: `owner@${other.document.slug}.example`, password: NEW_PASSWORD };
    const signedIn = await service.call('POST', SESSION, { headers: CONSOLE, json });
    assert.equal(signedIn.status, 200);
    const trail = await entriesOf(service, '/v1/staff/audit/', consoleHeaders(tokenOf(signedIn)));
    const id = await personId(service, other.tenantId, 'owner');
    const [entry] = trail.filter(({ action }: { action: string }) => action === 'user.password_changed');
    assert.deepEqual([entry.actor, entry.subject], [{ type: 'user', id, name: json.email }, id]);
  });

  it('204: a call with a token can change the password, and the token is then refused', async () => {
    const other = await service.tenant();
    assert.equal((await change(other.owner, OWNER_PASSWORD)).status, 204);
    assert.equal(await statusOf(other.owner), 401);
  });

  it('204, 401: of two concurrent changes of one password, one succeeds and the other is refused', async () => {
    const other = await service.tenant();
    const { headers } = await openSession(service, other.tenantId, 'owner');
    const [one, two] = await Promise.all([
      change(headers, OWNER_PASSWORD, `${NEW_PASSWORD} one`),
      change(headers, OWNER_PASSWORD, `${NEW_PASSWORD} two`),
    ]);
    assert.deepEqual(new Set([one.status, two.status]), new Set([204, 401]));
    assert.equal(await statusOf(headers), 200);
  });

  it('400: a new password with fewer than 12 or more than 1,024 characters is refused before a password is hashed', async () => {
    const earlier = hashes.count;
    for (const next of ['eleven char', 'x'.repeat(1_025), null, undefined]) {
      const answer = await service.call('POST', PASSWORD, {
        headers: tenant.owner,
        json: { current_password: OWNER_PASSWORD, new_password: next },
      });
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request']);
    }
    assert.equal(hashes.count, earlier);
  });

  it('401, 429: a call with a wrong current password changes nothing, and counts as one of the 10 sign-ins a minute with this e-mail', async () => {
    const other = await service.tenant();
    const { headers } = await openSession(service, other.tenantId, 'owner');
    for (let left = 9; left >= 0; left -= 1) {
      const answer = await change(headers, 'not the right one');
      assert.deepEqual([answer.status, answer.body.message], [401, 'The current password is wrong.']);
      assert.equal(answer.headers.get('x-ratelimit-remaining'), String(left));
    }
    assert.equal((await change(headers, OWNER_PASSWORD)).status, 429);
    assert.equal((await signIn(service, other, 'owner')).status, 429);
    assert.deepEqual([await statusOf(headers), await statusOf(other.owner)], [200, 200]);
    const actions = (await trailOf(other)).map(({ action }) => action);
    assert.ok(!actions.includes('user.password_changed') && actions.includes('sign_in.failed'));
  });
});
