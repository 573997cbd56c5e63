import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { type Answer, startService, type TestService, type TestTenant } from '../../test/support/service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD } from '../../test/support/tenants.ts';
import { webhookSecretPlace } from './credentials.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
const WRONG_PASSWORD = `wrong ${randomBytes(8).toString('hex')}`;

let service: TestService;
let receiver: Receiver;
let tenant: TestTenant;
const logLines: string[] = [];
const errorTexts: string[] = [];
const secrets = new Map<string, string | Buffer>();
before(async () => {
  receiver = await startReceiver({ answer: () => 500 });
  service = await startService({ worker: true, onLog: (line) => logLines.push(line) });
  tenant = await service.tenant();
  await useEverything();
});
after(async () => {
  await service.close();
  await receiver.close();
});

async function call(...parameters: Parameters<TestService['call']>): Promise<Answer> {
  const answer = await service.call(...parameters);
  if (answer.status >= 400) {
    errorTexts.push(answer.text);
  }
  return answer;
}

/** Whatever has to do with a secret: made, used, used wrongly, replaced, sent along where it does not belong. */
async function useEverything(): Promise<void> {
  const { owner } = tenant;
  const email = `owner@${tenant.document.slug}.example`;
  const signIn = (password: string) => call('POST', '/v1/auth/token/', { json: { email, password } });
  const created = (await call('POST', CREDENTIALS, { headers: owner, json: { label: 'Till' } })).body;
  const rotated = (await call('POST', `${CREDENTIALS}${created.id}/rotate/`, { headers: owner })).body;
  const partner = { 'x-api-key': created.api_key, 'x-api-secret': rotated.api_secret };
  const register = (url: string) =>
    call('POST', '/v1/third-party/webhook/', { headers: partner, json: { webhook_url: url } });
  const token = (await signIn(OWNER_PASSWORD)).body.access_token;
  secrets.set('api_secret', created.api_secret).set('rotated api_secret', rotated.api_secret).set('token', token);
  secrets.set('old webhook_secret', (await register('https://127.0.0.1:2/old')).body.webhook_secret);
  secrets.set('webhook_secret', (await register(receiver.url)).body.webhook_secret);
  secrets.set('owner password', OWNER_PASSWORD).set('staff password', STAFF_PASSWORD);
  secrets.set('master key', service.masterKey).set('pepper', service.keyring.pepper);
  secrets.set('staff token', tenant.staff['authorization']?.split(' ')[1] ?? '');
  secrets.set('another api_secret', tenant.credential.api_secret);
  secrets.set('wrong password', WRONG_PASSWORD).set('token key', service.keyring.token);

  const json = { external_order_id: 'one', items: [{ item_id: 'PIZZA-1', quantity: 1 }] };
  const order = (await call('POST', '/v1/third-party/orders/', { headers: partner, json })).body;
  await call('POST', `/v1/staff/orders/${order.order_id}/status/`, { headers: owner, json: { status: 'confirmed' } });
  await receiver.waitFor(1);

  await signIn(WRONG_PASSWORD);
  await call('POST', '/v1/auth/token/', { json: { email: '', password: OWNER_PASSWORD } });
  const cutShort = `{"email":"a@b.example","password":"${WRONG_PASSWORD}"`;
  await call('POST', '/v1/auth/token/', { body: cutShort, headers: { 'content-type': 'application/json' } });
  await call('POST', '/v1/auth/token/', { body: cutShort, headers: { 'content-type': 'text/plain' } });
  const swapped = { 'x-api-key': rotated.api_secret, 'x-api-secret': created.api_key };
  await call('GET', '/v1/third-party/menu/', { headers: swapped });
  await call('GET', CREDENTIALS, { headers: { authorization: `Bearer ${token}x` } });
  await call('GET', `${CREDENTIALS}?access_token=${token}&page=x`, { headers: owner });
  await call('GET', `/v1/nowhere/?api_secret=${rotated.api_secret}`, { headers: partner });
  await breakTheDatabase(owner, partner);
}

/** Errors that nobody foresaw are logged in full. */
async function breakTheDatabase(owner: Record<string, string>, partner: Record<string, string>): Promise<void> {
  const { db } = service.database;
  const rename = (from: string, to: string) =>
    sql`ALTER TABLE credential RENAME COLUMN ${sql.ref(from)} TO ${sql.ref(to)}`.execute(db);
  await rename('secret_hash', 'elsewhere');
  const answers = [
    await call('POST', CREDENTIALS, { headers: owner }),
    await call('POST', `${CREDENTIALS}${tenant.credential.id}/rotate/`, { headers: owner }),
    await call('GET', '/v1/third-party/menu/', { headers: partner }),
  ];
  await rename('elsewhere', 'secret_hash');
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [500, 500, 500],
  );
}

/** Every way in which a secret might be written down. */
function spellings(secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret);
  const texts = (['hex', 'base64', 'base64url'] as const).map((encoding) =>
    bytes.toString(encoding).replace(/=+$/, ''),
  );
  return typeof secret === 'string' ? [secret, ...texts] : texts;
}

function findsIn(haystack: string): string[] {
  return [...secrets]
    .filter(([, secret]) => spellings(secret).some((text) => haystack.includes(text)))
    .map(([name]) => name);
}

/** Every row of every table, bytea in hex. */
async function dump(): Promise<string> {
  const { db } = service.database;
  const tables = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'
  `.execute(db);
  const texts = [];
  for (const { name } of tables.rows) {
    const rows = await sql<{ row: string }>`SELECT to_jsonb(t)::text AS row FROM ${sql.table(name)} AS t`.execute(db);
    texts.push(`${name}:`, ...rows.rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

describe('no secret', () => {
  it('is anywhere in the database', async () => {
    const text = await dump();
    const { api_key } = tenant.credential;
    for (const known of [
      api_key,
      `${tenant.document.slug}.example`,
      receiver.url,
      'service_key:',
      'event:',
      '"\\\\x',
    ]) {
      assert.ok(text.includes(known), `${known} is there, so the search looks at everything`);
    }
    assert.deepEqual(findsIn(text), []);
  });

  it('is in any log line', () => {
    const text = logLines.join('');
    for (const known of ['"msg":"request"', '"msg":"webhook attempt"', '"msg":"request failed"', '"status":401']) {
      assert.ok(text.includes(known), `${known} is there`);
    }
    assert.deepEqual(findsIn(text), []);
  });

  it('is in any answer with an error', () => {
    assert.ok(errorTexts.length >= 10);
    assert.deepEqual(findsIn(errorTexts.join('\n')), []);
  });

  it('stays out of lists and webhooks', async () => {
    const list = await service.call('GET', CREDENTIALS, { headers: tenant.owner });
    const deliveries = await service.call('GET', '/v1/staff/webhook-deliveries/', { headers: tenant.owner });
    const sent = receiver.requests.map(({ headers, rawBody }) => JSON.stringify(headers) + rawBody.toString());
    assert.equal(list.body.length, 2);
    assert.equal(deliveries.body.length, 1);
    assert.deepEqual(findsIn([list.text, deliveries.text, ...sent].join('\n')), []);
  });
});

describe('a stored webhook secret', () => {
  it('opens at its own credential alone', async () => {
    const { db } = service.database;
    const stored = await db
      .selectFrom('credential')
      .selectAll()
      .where('webhook_url', '=', receiver.url)
      .executeTakeFirstOrThrow();
    const bytes = stored.webhook_secret;
    assert.ok(bytes !== null);
    const open = (tenantId: number, id: string) => service.keyring.decrypt(bytes, webhookSecretPlace(tenantId, id));
    assert.equal(open(stored.tenant_id, stored.id), secrets.get('webhook_secret'));
    assert.throws(() => open(stored.tenant_id, tenant.credential.id));
    assert.throws(() => open(stored.tenant_id + 1, stored.id));
  });
});
