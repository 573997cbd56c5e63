import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import {
  CHOOSE_PASSWORD,
  choosePassword,
  cookieOf,
  invite,
  NEW_PASSWORD,
  PEOPLE,
  tokenOf,
} from '#test/support/people.ts';
import type { CallOptions } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { CONSOLE } from '#test/support/sessions.ts';
import { createTenantTokens } from '#platform/lib/tenant-token.ts';

const hashes = countPasswordHashes();
const { service, tenant } = await useRestaurant();

const call = (json: unknown, options: CallOptions = { headers: CONSOLE }, node = service) =>
  node.call('POST', CHOOSE_PASSWORD, { json, ...options });
const bodyOf = (token: string) => ({ token, new_password: NEW_PASSWORD });

/**
 * Runs the work on a second node, and then closes the node. Each node counts calls separately, so the calls of other tests do not use up
 * its limits.
 */
async function onOwnNode(work: (node: TestService) => Promise<void>): Promise<void> {
  const node = await startService({ beside: service });
  try {
    await work(node);
  } finally {
    await node.close();
  }
}

describe('POST /v1/auth/password/', () => {
  it('200: a call with the link of an invitation sets the password of the person, and returns a session cookie that every node accepts', async () => {
    const invited = await invite(service, tenant, { name: 'Rui', areas: ['orders'] });
    const accepted = await choosePassword(service, invited);
    assert.equal(accepted.status, 200);
    const { person, display, session } = accepted.body;
    const { id, email } = invited.body.person;
    assert.deepEqual(
      [person, display, session.kind],
      [{ id, name: 'Rui', email, role: 'staff', areas: ['orders'], language: null }, null, 'person'],
    );
    assert.match(
      accepted.headers.getSetCookie()[0] ?? '',
      /^roomservice=[\w-]{64}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
    await onOwnNode(async (node) => {
      const headers = cookieOf(accepted);
      assert.equal((await node.call('GET', '/v1/staff/me/', { headers })).body.session.id, session.id);
      const token = await node.call('POST', '/v1/auth/token/', { json: { email, password: NEW_PASSWORD } });
      assert.equal(token.status, 200);
    });
    const people = await service.call('GET', PEOPLE, { headers: tenant.owner });
    assert.equal(people.body.find((each: { id: string }) => each.id === id).is_invited, false);
  });

  it('401: a link works once, even if several nodes get it at the same time', async () => {
    await onOwnNode(async (node) => {
      const invited = await invite(service, tenant);
      const nodes = [service, node, service, node];
      const answers = await Promise.all(nodes.map((each) => choosePassword(each, invited)));
      assert.deepEqual(
        answers.map(({ status }) => status).sort((a, b) => a - b),
        [200, 401, 401, 401],
      );
      const again = await choosePassword(node, invited);
      assert.deepEqual(again.body, {
        code: 'invalid_credentials',
        message: 'The link was used, was replaced or has expired. Ask an owner for a new link.',
      });
      assert.deepEqual(again.headers.getSetCookie(), []);
      const winner = answers.find(({ status }) => status === 200);
      assert.ok(winner);
      assert.equal((await service.call('GET', '/v1/staff/me/', { headers: cookieOf(winner) })).status, 200);
    });
  });

  it('401: an invalid token, an expired token, the token of a session and the link of a disabled person are refused before a password is hashed', async () => {
    const expired = await invite(service, tenant);
    const past = { expires_at: sql<Date>`now()` };
    const { db } = service.database;
    await db.updateTable('one_time_link').set(past).where('person_id', '=', expired.body.person.id).execute();
    const disabled = await invite(service, tenant);
    const path = `${PEOPLE}${disabled.body.person.id}/`;
    await service.call('PATCH', path, { headers: tenant.owner, json: { is_active: false } });
    const good = tokenOf(await invite(service, tenant));
    const session = cookieOf(await choosePassword(service, await invite(service, tenant)))['cookie'] ?? '';
    const unknown = createTenantTokens(service.keyring.pepper, 'one-time-link').create(tenant.tenantId).token;
    const tokens = [
      tokenOf(expired),
      tokenOf(disabled),
      unknown,
      `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`,
      good.slice(1),
      'x',
      session.replace('roomservice=', ''),
    ];
    const earlier = hashes.count;
    for (const token of tokens) {
      const { status, body } = await call(bodyOf(token));
      assert.deepEqual([status, body.code], [401, 'invalid_credentials'], token);
    }
    assert.equal(hashes.count, earlier);
    await service.call('PATCH', path, { headers: tenant.owner, json: { is_active: true } });
    assert.equal(
      (await call(bodyOf(tokenOf(disabled)))).status,
      401,
      'enabling the person does not bring the link back',
    );
  });

  it("401: a reset link is refused if the person's generation (raised by each new password) has risen since the link was made", async () => {
    const invited = await invite(service, tenant);
    const { id } = invited.body.person;
    await choosePassword(service, invited);
    const link = await service.call('POST', `${PEOPLE}${id}/reset/`, { headers: tenant.owner });
    const { db } = service.database;
    await db.updateTable('app_user').set({ generation: sql`generation + 1` }).where('id', '=', id).execute();
    assert.equal((await choosePassword(service, link)).status, 401);
  });

  it('400: if a call with an invitation link has no valid header X-Roomservice-Console or comes from another site, the call is refused, and the link still works', async () => {
    const invited = await invite(service, tenant);
    const json = bodyOf(tokenOf(invited));
    for (const headers of [{}, { 'x-roomservice-console': '0' }, { ...CONSOLE, 'sec-fetch-site': 'cross-site' }]) {
      const { status, body, headers: shown } = await call(json, { headers });
      assert.deepEqual([status, body.code], [400, 'invalid_request']);
      assert.equal(shown.get('x-ratelimit-remaining'), null, 'no budget is taken');
    }
    assert.equal((await call(json, { headers: { ...CONSOLE, 'sec-fetch-site': 'same-origin' } })).status, 200);
  });

  it('400: a password of fewer than 12 or more than 1,024 characters is refused, and the link still works', async () => {
    const token = tokenOf(await invite(service, tenant));
    for (const new_password of ['short', 'x'.repeat(11), 'x'.repeat(1_025), '', 12_345_678_901_234]) {
      const { status, body } = await call({ token, new_password });
      assert.equal(status, 400);
      assert.match(body.message, /^new_password: /);
    }
    assert.equal((await call({ new_password: NEW_PASSWORD })).body.message, 'token: is required');
    assert.equal((await call({ token, new_password: 'é'.repeat(1_024) })).status, 200);
  });

  it('429: in one minute, the eleventh call with one invitation link is refused, and the 101st call from one IP address is refused before a password is hashed', async () => {
    await onOwnNode(async (node) => {
      const used = await invite(service, tenant);
      await choosePassword(service, used);
      const open = tokenOf(await invite(service, tenant));
      for (let count = 0; count < 10; count += 1) {
        assert.equal((await call(bodyOf(tokenOf(used)), undefined, node)).status, 401);
      }
      const ofLink = await call(bodyOf(tokenOf(used)), undefined, node);
      assert.deepEqual([ofLink.status, ofLink.headers.get('x-ratelimit-limit')], [429, '10']);
      for (let count = 11; count < 100; count += 1) {
        assert.equal((await call(bodyOf('x'), undefined, node)).status, 401);
      }
      const earlier = hashes.count;
      const ofAddress = await call(bodyOf(open), undefined, node);
      assert.deepEqual([ofAddress.status, ofAddress.body.code], [429, 'rate_limited']);
      assert.equal(ofAddress.headers.get('x-ratelimit-limit'), '100');
      assert.equal(hashes.count, earlier);
    });
  });
});
