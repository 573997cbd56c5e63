import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { CHOOSE_PASSWORD, cookieOf, invite, NEW_PASSWORD, readMe, tokenOf } from '#test/support/people.ts';
import { CONSOLE, personId } from '#test/support/sessions.ts';
import { startService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { entriesOf } from '#test/support/lists.ts';
import { Links } from './links.ts';

const { service, tenant } = await useRestaurant();
const WELCOME = '/v1/auth/welcome/';
const { db } = service.database;

async function issue(): Promise<string> {
  const links = new Links({ db, pepper: service.keyring.pepper, mailer: null, baseUrl: () => 'http://a.test' });
  const url = await links.issueWelcome(tenant.tenantId, await personId(service, tenant.tenantId, 'owner'));
  const [base, token = ''] = url.split('#welcome=');
  assert.equal(base, 'http://a.test/console/');
  return token;
}

const welcome = (token: string, headers: Record<string, string> = CONSOLE, node = service) =>
  node.call('POST', WELCOME, { headers, json: { token } });

describe('POST /v1/auth/welcome/', () => {
  it('200: the link signs its person in with a session cookie, and the audit trail says that the operator made the link', async () => {
    const answer = await welcome(await issue());
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.person.role, 'owner');
    assert.equal((await readMe(service, cookieOf(answer))).body.session.id, answer.body.session.id);
    const [entry] = await entriesOf(service, '/v1/staff/audit/?action=user.link_created', tenant.owner);
    assert.deepEqual([entry.actor.type, entry.details.kind], ['operator', 'welcome']);
  });

  it('401: a link works once, even if several calls arrive at the same time', async () => {
    const token = await issue();
    const answers = await Promise.all([welcome(token), welcome(token), welcome(token)]);
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, 401, 401],
    );
    assert.deepEqual((await welcome(token)).body, {
      code: 'invalid_credentials',
      message: 'The link was used, was replaced or has expired. Ask an owner for a new link.',
    });
  });

  it('401: an earlier link, a link after its 15 minutes and the token of an invitation are refused', async () => {
    const earlier = await issue();
    const token = await issue();
    assert.equal((await welcome(earlier)).status, 401);
    const left = await db
      .selectFrom('one_time_link')
      .select(sql<number>`extract(epoch FROM expires_at - now())`.as('seconds'))
      .where('kind', '=', 'welcome')
      .executeTakeFirstOrThrow();
    assert.ok(left.seconds > 14 * 60 && left.seconds <= 15 * 60);
    await db.updateTable('one_time_link').set({ expires_at: sql<Date>`now()` }).where('kind', '=', 'welcome').execute();
    assert.equal((await welcome(token)).status, 401);
    const invited = tokenOf(await invite(service, tenant));
    assert.equal((await welcome(invited)).status, 401);
    assert.equal((await welcome('x')).status, 401);
  });

  it('401: the link cannot set a password', async () => {
    const json = { token: await issue(), new_password: NEW_PASSWORD };
    assert.equal((await service.call('POST', CHOOSE_PASSWORD, { headers: CONSOLE, json })).status, 401);
  });

  it('400: a call without X-Roomservice-Console or from another site is refused, and the link still works', async () => {
    const token = await issue();
    for (const headers of [{}, { ...CONSOLE, 'sec-fetch-site': 'cross-site' }]) {
      assert.equal((await welcome(token, headers)).status, 400);
    }
    assert.equal((await welcome(token)).status, 200);
  });

  it('429: calls to /v1/auth/password/ count against the same budgets', async () => {
    const node = await startService({ beside: service });
    const token = await issue();
    const json = { token, new_password: NEW_PASSWORD };
    for (let count = 0; count < 10; count += 1) {
      await node.call('POST', CHOOSE_PASSWORD, { headers: CONSOLE, json });
    }
    assert.equal((await welcome(token, CONSOLE, node)).status, 429);
    await node.close();
  });
});
