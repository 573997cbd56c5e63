import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { CHANNELS, makeChannel, sendReservation } from '#test/support/channel.ts';
import { cleanUp, runCommand } from '#test/support/command.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD } from '#test/support/tenants.ts';
import { causeEvent, eventually } from '#test/support/webhooks.ts';
import { openKeyring } from '#platform/keys/keys.ts';
import { webhookSecretLocation } from './credentials.ts';

const CREDENTIALS = '/v1/third-party/credentials/';
const WRONG_PASSWORD = `wrong ${randomBytes(8).toString('hex')}`;

let service: TestService;
let receiver: Receiver;
let tenant: TestTenant;
const logLines: string[] = [];
const errorTexts: string[] = [];
/** Output of the command `roomservice keys rewrap`, stdout and stderr. */
const printed: string[] = [];
const secrets = new Map<string, string | Buffer>();
before(async () => {
  receiver = await startReceiver({ answer: () => 500 });
  service = await startService({ worker: true, onLog: (line) => logLines.push(line) });
  tenant = await service.tenant({ features: ['restaurant', 'hotel'] });
  await useEverything();
  await useChannelsAndPms();
  await collectKeys();
  await deliverOnce();
  await spoilSecrets();
});
after(async () => {
  await cleanUp();
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

/**
 * Creates, uses and replaces secrets of each kind. Also sends wrong secrets, and secrets in a wrong header, in the query or in the body.
 */
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
  secrets.set('master key', service.masterKey);
  secrets.set('staff token', tenant.staff['authorization']?.split(' ')[1] ?? '');
  secrets.set('another api_secret', tenant.credential.api_secret);
  secrets.set('wrong password', WRONG_PASSWORD);

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
  await breakTheDatabase(owner);
}

/**
 * Creates and rotates a PMS credential, creates channels, and revokes one channel. Also makes calls that contain the secrets of the
 * channels and that the service refuses.
 */
async function useChannelsAndPms(): Promise<void> {
  const { owner } = tenant;
  const path = '/v1/channel-manager/credentials/';
  const pms = (await call('POST', path, { headers: owner, json: { label: 'PMS' } })).body;
  const rotated = (await call('POST', `${path}${pms.id}/rotate/`, { headers: owner })).body;
  secrets.set('pms secret', pms.api_secret).set('rotated pms secret', rotated.api_secret);
  const headers = { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret };
  await call('GET', '/v1/channel-manager/pms/room-types/', { headers });
  const channel = await makeChannel(service, tenant);
  secrets.set('channel_secret', channel.channel_secret);
  errorTexts.push((await sendReservation(service, channel, { source: channel.channel_secret })).text);
  errorTexts.push((await sendReservation(service, { ...channel, channel_key: channel.channel_secret }, {})).text);
  const withdrawn = await makeChannel(service, tenant);
  secrets.set('secret of a withdrawn channel', withdrawn.channel_secret);
  await call('POST', `${CHANNELS}${withdrawn.id}/revoke/`, { headers: owner });
  errorTexts.push((await sendReservation(service, withdrawn, {})).text);
}

/** Adds the keys of the service to the secrets that the tests search for. */
async function collectKeys(): Promise<void> {
  const { pepper, token } = await openKeyring(service.database.db, service.masterKey);
  secrets.set('pepper', pepper);
  secrets.set('token key', token);
}

async function deliverOnce(): Promise<void> {
  const seen = receiver.requests.length;
  const partner = { 'x-api-key': tenant.credential.api_key, 'x-api-secret': tenant.credential.api_secret };
  const json = { webhook_url: receiver.url };
  const registered = await call('POST', '/v1/third-party/webhook/', { headers: partner, json });
  secrets.set('webhook_secret of the delivery', registered.body.webhook_secret);
  await causeEvent(service, tenant, partner);
  await receiver.waitFor(seen + 1);
}

/**
 * Changes a stored webhook secret and a stored channel secret so that the service cannot decrypt them. Then does the following, and each of
 * these actions causes an error in the log, in a response or in the output of a command:
 *
 * - causes a delivery
 * - sends a reservation, as the channel does
 * - runs `keys rewrap` with a wrong master key
 */
async function spoilSecrets(): Promise<void> {
  const { db } = service.database;
  const spoiled = { webhook_secret: Buffer.from('00000001ffffffff', 'hex') };
  await db.updateTable('credential').set(spoiled).where('id', '=', tenant.credential.id).execute();
  await causeEvent(service, tenant);
  const channel = await makeChannel(service, tenant, 'spoiled');
  const { channel_secret } = await db
    .selectFrom('channel')
    .select('channel_secret')
    .where('id', '=', channel.id)
    .executeTakeFirstOrThrow();
  channel_secret.writeUInt8(channel_secret.readUInt8(20) ^ 1, 20);
  await db.updateTable('channel').set({ channel_secret }).where('id', '=', channel.id).execute();
  secrets.set('spoiled channel_secret', channel.channel_secret);
  const answer = await sendReservation(service, channel, {});
  assert.equal(answer.status, 500);
  errorTexts.push(answer.text);
  const wrongKey = randomBytes(32);
  secrets.set('wrong master key', wrongKey);
  const env = { DATABASE_URL: service.database.url, MASTER_KEY: wrongKey.toString('base64') };
  const { code, stdout, stderr } = await runCommand(['keys', 'rewrap'], { env });
  assert.equal(code, 1);
  printed.push(stdout, stderr);
  await eventually(
    () => logLines.some((line) => line.includes('cannot be decrypted. Its key was')),
    'error in the log',
  );
}

/** Renames a column of the database for a moment, so that calls fail with unexpected errors, which the service logs in full. */
async function breakTheDatabase(owner: Record<string, string>): Promise<void> {
  const { db } = service.database;
  const rename = (from: string, to: string) =>
    sql`ALTER TABLE credential RENAME COLUMN ${sql.ref(from)} TO ${sql.ref(to)}`.execute(db);
  // The service has not cached this credential yet, so a call with this credential has to read the renamed column.
  const unseen = await service.credential(tenant.tenantId);
  secrets.set('unseen api_secret', unseen.credential.api_secret);
  await rename('secret_hash', 'elsewhere');
  const answers = [
    await call('POST', CREDENTIALS, { headers: owner }),
    await call('POST', `${CREDENTIALS}${tenant.credential.id}/rotate/`, { headers: owner }),
    await call('GET', '/v1/third-party/menu/', { headers: unseen.partner }),
  ];
  await rename('elsewhere', 'secret_hash');
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [500, 500, 500],
  );
}

/**
 * Returns the secret in each encoding in which an output might contain it: as text, URL-encoded, and its bytes in hex, in base64 and as a
 * JSON list of numbers.
 */
function spellings(secret: string | Buffer): string[] {
  if (typeof secret === 'string') {
    const random = secret.startsWith('rss_') ? spellings(Buffer.from(secret.slice(4), 'base64url')) : [];
    return [secret, encodeURIComponent(secret), ...spellings(Buffer.from(secret)), ...random];
  }
  const hex = secret.toString('hex');
  const base64 = secret.toString('base64').replace(/=+$/, '');
  return [hex, hex.toUpperCase(), base64, secret.toString('base64url'), JSON.stringify([...secret]).slice(1, -1)];
}

function findsIn(haystack: string): string[] {
  return [...secrets]
    .filter(([, secret]) => spellings(secret).some((text) => haystack.includes(text)))
    .map(([name]) => name);
}

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

describe('secrecy', () => {
  it('no secret is stored in plain text in any table of the database', async () => {
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
      assert.ok(text.includes(known), `the dump of the database contains ${known}`);
    }
    assert.deepEqual(findsIn(text), []);
  });

  it('no secret is in any log line', () => {
    const text = logLines.join('');
    const failures = ['"msg":"request failed"', 'cannot be decrypted. Its key was'];
    for (const known of ['"msg":"request"', '"msg":"webhook attempt"', '"status":401', ...failures]) {
      assert.ok(text.includes(known), `${known} is there`);
    }
    assert.deepEqual(findsIn(text), []);
  });

  it('no secret is in an error response', () => {
    assert.ok(errorTexts.length >= 15);
    assert.deepEqual(findsIn(errorTexts.join('\n')), []);
  });

  it('no secret is in the output of a command that gets a wrong master key', () => {
    const text = printed.join('');
    assert.ok(text.includes('The master key cannot decrypt'));
    assert.deepEqual(findsIn(text), []);
  });

  it('no secret is in the lists of credentials, deliveries and channels, in the audit trail or in webhook requests', async () => {
    const list = await service.call('GET', CREDENTIALS, { headers: tenant.owner });
    const deliveries = await service.call('GET', '/v1/staff/webhook-deliveries/', { headers: tenant.owner });
    const sent = receiver.requests.map(({ headers, rawBody }) => JSON.stringify(headers) + rawBody.toString());
    const channels = await service.call('GET', CHANNELS, { headers: tenant.owner });
    const trail = await service.call('GET', '/v1/staff/audit/', { headers: tenant.owner });
    assert.deepEqual([list.body.length, deliveries.body.results.length, channels.body.length], [3, 3, 3]);
    assert.ok(trail.body.results.length >= 8);
    const texts = [list, deliveries, channels, trail].map(({ text }) => text);
    assert.deepEqual(findsIn([...texts, ...sent].join('\n')), []);
  });

  it('the search for leaked secrets knows the keys of the service, and finds each secret in hex, base64 and base64url', () => {
    const names = [...secrets.keys()];
    for (const name of ['pepper', 'token key']) {
      assert.ok(names.includes(name), name);
    }
    assert.ok([...secrets.values()].every((secret) => secret.length >= 16));
    assert.equal(new Set(secrets.values()).size, secrets.size);
    for (const [name, secret] of secrets) {
      const bytes = Buffer.from(secret);
      for (const text of ['hex', 'base64', 'base64url'] as const) {
        assert.ok(findsIn(`x${bytes.toString(text)}x`).includes(name), `${name} in ${text}`);
      }
    }
  });
});

describe('a stored webhook secret', () => {
  it('a stored webhook secret cannot be decrypted for another credential or another tenant', async () => {
    const { db } = service.database;
    const stored = await db
      .selectFrom('credential')
      .selectAll()
      .where('webhook_url', '=', receiver.url)
      .where('id', '<>', tenant.credential.id)
      .executeTakeFirstOrThrow();
    const bytes = stored.webhook_secret;
    assert.ok(bytes !== null);
    const keyring = await openKeyring(db, service.masterKey);
    const open = (tenantId: number, id: string) => keyring.decrypt(bytes, webhookSecretLocation(tenantId, id));
    assert.equal(open(stored.tenant_id, stored.id), secrets.get('webhook_secret'));
    assert.throws(() => open(stored.tenant_id, tenant.credential.id));
    assert.throws(() => open(stored.tenant_id + 1, stored.id));
  });
});
