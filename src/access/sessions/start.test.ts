import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { CONSOLE, consoleHeaders, ME, personId, SESSION, signIn, tokenOf } from '#test/support/sessions.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';

let service: TestService;
let tenant: TestTenant;
const hashes = countPasswordHashes();
before(async () => {
  service = await startService({ config: { trustedProxies: ['127.0.0.1'] } });
  tenant = await service.tenant({ features: ['restaurant', 'hotel'] });
});
after(() => service.close());

const cookieOf = (answer: Answer) => answer.headers.get('set-cookie') ?? '';
const emailOf = ({ document }: TestTenant, who = 'owner') => `${who}@${document.slug}.example`;
const secondsUntil = (time: string) => (Date.parse(time) - Date.now()) / 1000;

describe('POST /v1/auth/session/', () => {
  it('200: a sign-in sets a cookie that no script can read, and the response describes person, tenant, session and service', async () => {
    const answer = await signIn(service, tenant, 'staff');
    assert.equal(answer.status, 200, answer.text);
    assert.match(cookieOf(answer), /^roomservice=[\w-]{64}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { person, display, session, service: facts, tenant: shown } = answer.body;
    assert.deepEqual(person, {
      id: await personId(service, tenant.tenantId, 'staff'),
      name: null,
      email: emailOf(tenant, 'staff'),
      role: 'staff',
      areas: ['orders', 'menu', 'hotel', 'deliveries'],
      language: null,
    });
    assert.equal(display, null);
    const { slug, name, currency, timezone, features } = tenant.document;
    assert.deepEqual(shown, { id: tenant.tenantId, slug, name, currency, timezone, features: features.toSorted() });
    assert.equal(session.kind, 'person');
    assert.ok(Math.abs(secondsUntil(session.expires_at) - 12 * 3600) < 60);
    assert.deepEqual(
      { ...facts, now: undefined, version: undefined },
      {
        now: undefined,
        version: undefined,
        sandbox: false,
        event_retention_days: 30,
        rate_limit_per_minute: 300,
        webhook_header_brand: 'Service',
      },
    );
    assert.ok(Math.abs(secondsUntil(facts.now)) < 60);
    assert.match(facts.version, /^\d+\.\d+\.\d+/);
    const me = await service.call('GET', ME, { headers: consoleHeaders(tokenOf(answer)) });
    assert.deepEqual([me.status, me.body.person, me.body.session.id], [200, person, session.id]);
  });

  it('200: the response to a sign-in of an owner has all areas', async () => {
    const { status, body } = await signIn(service, tenant, 'owner');
    assert.equal(status, 200);
    assert.deepEqual(body.person.areas, ['orders', 'menu', 'hotel', 'rates', 'deliveries']);
  });

  it('200: behind a trusted proxy that says HTTPS, only the cookie __Host-roomservice with Secure is set and read', async () => {
    const https = { 'x-forwarded-proto': 'https' };
    const answer = await signIn(service, tenant, 'staff', { ...CONSOLE, ...https });
    assert.match(cookieOf(answer), /^__Host-roomservice=[\w-]{64}; Path=\/; .*; HttpOnly; SameSite=Strict; Secure$/);
    const token = tokenOf(answer);
    const statusOf = async (name: string) =>
      (await service.call('GET', ME, { headers: { ...consoleHeaders(token, name), ...https } })).status;
    assert.deepEqual([await statusOf('__Host-roomservice'), await statusOf('roomservice')], [200, 401]);
    const plain = await service.call('GET', ME, { headers: consoleHeaders(token, '__Host-roomservice') });
    assert.equal(plain.status, 401);
  });

  it('200: with an https PUBLIC_URL, only the cookie __Host-roomservice with Secure is set and read', async (t) => {
    const node = await startService({ beside: service, config: { publicUrl: 'https://console.example' } });
    t.after(() => node.close());
    const answer = await signIn(node, tenant, 'staff');
    assert.match(cookieOf(answer), /^__Host-roomservice=.*; Secure$/);
    const token = tokenOf(answer);
    const statusOf = async (name: string) =>
      (await node.call('GET', ME, { headers: consoleHeaders(token, name) })).status;
    assert.deepEqual([await statusOf('__Host-roomservice'), await statusOf('roomservice')], [200, 401]);
  });

  it('400: without the header X-Roomservice-Console or from another site, a sign-in counts against no limit and hashes no password', async () => {
    const earlier = hashes.count;
    const refused: Record<string, string>[] = [
      {},
      { 'x-roomservice-console': '0' },
      { 'x-roomservice-console': 'true' },
      { ...CONSOLE, 'sec-fetch-site': 'cross-site' },
      { ...CONSOLE, 'sec-fetch-site': 'same-site' },
      { ...CONSOLE, 'sec-fetch-site': 'same-origin, cross-site' },
    ];
    for (const headers of refused) {
      const answer = await signIn(service, tenant, 'owner', headers);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], JSON.stringify(headers));
      assert.match(answer.body.message, /^X-Roomservice-Console: /);
      assert.equal(answer.headers.get('x-ratelimit-limit'), null);
      assert.equal(cookieOf(answer), '');
    }
    assert.equal(hashes.count, earlier);
    for (const site of ['same-origin', 'none']) {
      assert.equal((await signIn(service, tenant, 'owner', { ...CONSOLE, 'sec-fetch-site': site })).status, 200, site);
    }
  });

  it('400: a sign-in without e-mail or password is refused, and a sign-in that has both an e-mail and a token is refused too', async () => {
    const send = (json: unknown, headers = {}) =>
      service.call('POST', SESSION, { headers: { ...CONSOLE, ...headers }, json });
    const email = emailOf(tenant);
    for (const [json, message] of [
      [{}, 'email: is required'],
      [{ password: OWNER_PASSWORD }, 'email: is required'],
      [{ email }, 'password: is required'],
    ] as const) {
      const answer = await send(json);
      assert.deepEqual([answer.status, answer.body.message], [400, message]);
    }
    for (const json of [{ email, password: OWNER_PASSWORD }, { email }]) {
      const answer = await send(json, tenant.owner);
      assert.deepEqual([answer.status, answer.body.code, cookieOf(answer)], [400, 'invalid_request', '']);
    }
  });

  it('401: a wrong password, an unknown e-mail, an access token of this service or a malformed token begins no session', async () => {
    const sessions = () => service.database.db.selectFrom('session').selectAll().execute();
    const count = (await sessions()).length;
    const attempts = [
      { json: { email: emailOf(tenant), password: 'not the right one' } },
      { json: { email: 'nobody@example.com', password: OWNER_PASSWORD } },
      { headers: tenant.owner },
      { headers: { authorization: 'Bearer x' } },
      { headers: { authorization: 'Basic b3duZXI6eA==' } },
    ];
    for (const { headers = {}, ...body } of attempts) {
      const answer = await service.call('POST', SESSION, { headers: { ...CONSOLE, ...headers }, ...body });
      assert.deepEqual([answer.status, answer.body.code, cookieOf(answer)], [401, 'invalid_credentials', '']);
    }
    assert.equal((await sessions()).length, count);
  });

  it('401: a disabled person gets no session', async () => {
    const { tenantId, ...other } = await service.tenant();
    await service.database.db
      .updateTable('app_user')
      .set({ is_active: false })
      .where('tenant_id', '=', tenantId)
      .execute();
    assert.equal((await signIn(service, { tenantId, ...other }, 'owner')).status, 401);
  });

  it('429: for one e-mail, sign-ins for a session and sign-ins for a token share one limit of 10 attempts a minute', async () => {
    const other = await service.tenant();
    const json = { email: emailOf(other), password: 'not the right one' };
    for (let left = 9; left >= 0; left -= 1) {
      const path = left % 2 ? SESSION : '/v1/auth/token/';
      const answer = await service.call('POST', path, { headers: CONSOLE, json });
      assert.deepEqual([answer.status, answer.headers.get('x-ratelimit-remaining')], [401, String(left)]);
    }
    for (const path of [SESSION, '/v1/auth/token/']) {
      const answer = await service.call('POST', path, { headers: CONSOLE, json });
      assert.deepEqual([answer.status, answer.body.code], [429, 'rate_limited']);
    }
  });
});

describe('the stored sessions of a person', () => {
  it('a sign-in removes all sessions of the person except the newest 100, and all sessions that began more than 30 days ago', async () => {
    const { db } = service.database;
    const other = await service.tenant();
    const first = await signIn(service, other, 'owner');
    const row = await db
      .selectFrom('session')
      .selectAll()
      .where('tenant_id', '=', other.tenantId)
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: 100 }, (_, index) => ({
      ...row,
      id: row.id.replace(/^.{8}/, index.toString(16).padStart(8, '0')),
      secret_hash: Buffer.from(String(index)),
      created_at: index < 10 ? new Date(Date.now() - 31 * 86_400_000) : row.created_at,
    }));
    await db.insertInto('session').values(copies).execute();
    await signIn(service, other, 'owner');
    const kept = await db.selectFrom('session').select('id').where('tenant_id', '=', other.tenantId).execute();
    assert.equal(kept.length, 92);
    assert.equal((await service.call('GET', ME, { headers: consoleHeaders(tokenOf(first)) })).status, 200);
    await db
      .insertInto('session')
      .values(copies.slice(0, 9).map((copy) => ({ ...copy, created_at: row.created_at })))
      .execute();
    await signIn(service, other, 'owner');
    const later = await db.selectFrom('session').select('id').where('tenant_id', '=', other.tenantId).execute();
    assert.equal(later.length, 100);
    const removed = copies.filter(({ id }) => !later.some((session) => session.id === id));
    assert.deepEqual(
      removed.map(({ id }) => id),
      [...copies.slice(0, 2), copies[9]].map((copy) => copy?.id),
    );
  });
});
