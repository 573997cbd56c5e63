import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { NO_CACHES } from '#platform/changes/changes.ts';
import { createDatabase } from '#platform/db/database.ts';
import { ApiError } from '#platform/errors.ts';
import { createKeyMaker, newSecret } from './api-key.ts';
import { Authentication } from './authentication.ts';

const PATH = '/v1/third-party/orders/';

let service: TestService;
let tenant: TestTenant;
let other: TestTenant;
let key: string;
let secret: string;
before(async () => {
  service = await startService();
  [tenant, other] = [await service.tenant(), await service.tenant()];
  ({ api_key: key, api_secret: secret } = tenant.credential);
});
after(() => service.close());

interface RawAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** Makes a call with exactly the given headers, even if they are repeated or have bytes that are not ASCII. */
async function get(headers: OutgoingHttpHeaders, path = PATH): Promise<RawAnswer> {
  const outgoing = request(service.url + path, { headers, agent: false }).end();
  const [incoming]: [IncomingMessage] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = await incoming.toArray();
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text: Buffer.concat(chunks).toString() };
}

/**
 * Returns the parts of a response that must be equal for all refused calls. Only the request id and the date may differ, so that a caller
 * does not learn why the call was refused.
 */
function visible({ status, headers, text }: RawAnswer) {
  const { 'x-request-id': _id, date: _date, ...rest } = headers;
  return { status, headers: rest, text };
}

function inOtherCase(text: string): string {
  return text.replaceAll(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

describe('X-API-Key and X-API-Secret', () => {
  it('200: the right key and secret are accepted, with header names in any letter case and spaces around the values', async () => {
    assert.equal((await get({ 'x-api-key': key, 'x-api-secret': secret })).status, 200);
    assert.equal((await get({ 'X-API-KEY': key, 'X-Api-Secret': secret })).status, 200);
    assert.equal((await get({ 'x-api-key': `  ${key}\t`, 'x-api-secret': ` ${secret}` })).status, 200);
  });

  it('401: all calls with a missing, unknown, malformed or wrong API key or secret get the same response', async () => {
    const pairs: [OutgoingHttpHeaders[string], OutgoingHttpHeaders[string]][] = [
      [undefined, undefined],
      [key, undefined],
      [undefined, secret],
      ['', ''],
      [key, ''],
      ['', secret],
      [secret, key],
      [key, key],
      [key, newSecret()],
      [key, other.credential.api_secret],
      [other.credential.api_key, secret],
      [key, secret.slice(0, -1)],
      [key, `${secret}A`],
      [key, secret.toUpperCase()],
      [`rsk_${inOtherCase(key.slice('rsk_'.length))}`, secret],
      [`${key}=`, secret],
      [key.slice('rsk_'.length), secret],
      [createKeyMaker(service.keyring.pepper, 'rsk_').newApiKey(tenant.tenantId), secret],
      ['a'.repeat(7_000), 'b'.repeat(7_000)],
      [`${key}${'a'.repeat(7_000)}`, secret],
      ['\xE9\xFF\x80', '\xE9\xFF\x80'],
      [utf8('🔑'), utf8('🔑')],
      [key, `${secret}${utf8('🔑')}`],
      [`${key}\xA0`, secret],
      [[key, key], secret],
      [key, [secret, secret]],
      [`${key}, ${key}`, secret],
      ["' OR '1'='1", "' OR '1'='1"],
      ['null', 'null'],
    ];
    const answers = [];
    for (const [apiKey, apiSecret] of pairs) {
      const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret };
      answers.push(await get(Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))));
    }
    const [first] = answers;
    assert.equal(first?.status, 401);
    assert.equal(first.headers['www-authenticate'], 'ApiKey');
    const message = 'X-API-Key and X-API-Secret must be those of an active credential.';
    assert.deepEqual(JSON.parse(first.text), { code: 'invalid_credentials', message });
    for (const [index, answer] of answers.entries()) {
      assert.deepEqual(visible(answer), visible(first), `pair ${index}`);
    }
  });

  it('401: an API key with a different last character is refused, even if it decodes to the same bytes', async () => {
    // The last of the 22 characters after the prefix of an API key encodes six bits. The decoder uses two of these bits and ignores the
    // other four. So 15 other last characters decode to the same bytes. The service must refuse these 15 keys, because they are not the
    // stored key.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const keys = createKeyMaker(service.keyring.pepper, 'rsk_');
    const twins = alphabet
      .split('')
      .map((last) => key.slice(0, -1) + last)
      .filter((twin) => twin !== key && keys.tenantOfApiKey(twin) === tenant.tenantId);
    assert.equal(twins.length, 15);
    for (const twin of twins) {
      assert.equal((await get({ 'x-api-key': twin, 'x-api-secret': secret })).status, 401);
    }
  });

  it('401: a call with a wrong secret does not count against the budget of the credential', async () => {
    const { partner } = await service.credential(tenant.tenantId);
    for (let count = 0; count < 5; count += 1) {
      await service.call('GET', PATH, { headers: { ...partner, 'x-api-secret': newSecret() } });
    }
    const { headers } = await service.call('GET', PATH, { headers: partner });
    assert.equal(headers.get('x-ratelimit-remaining'), '299');
  });

  it('authentication makes one database query for a missing or wrong key or secret, and also one for the first accepted call', async () => {
    let queries = 0;
    const db = createDatabase({ url: service.database.url, poolSize: 2, log: () => void (queries += 1) });
    const authentication = new Authentication({
      audience: 'third_party',
      db,
      keyring: service.keyring,
      caches: NO_CACHES,
      onError: (error) => assert.fail(String(error)),
    });
    try {
      for (const [apiKey, apiSecret] of [
        [],
        [key],
        ['rsk_x', secret],
        [other.credential.api_key, secret],
        [key, 'x'],
      ]) {
        queries = 0;
        await assert.rejects(authentication.authenticate(apiKey, apiSecret), ApiError);
        assert.equal(queries, 1);
      }
      queries = 0;
      await authentication.authenticate(key, secret);
      assert.equal(queries, 1);
    } finally {
      await authentication.close();
      await db.destroy();
    }
  });
});

describe('the tenant of a credential', () => {
  it("200: a partner sees only its own tenant's orders, even if the Host or another header names another tenant", async () => {
    const json = { external_order_id: 'mine', items: [{ item_id: 'PIZZA-1', quantity: 1 }] };
    await service.call('POST', PATH, { headers: tenant.partner, json });
    const headers = { ...other.partner, 'x-tenant-id': String(tenant.tenantId), host: 'tenant.example' };
    const listed = await get(headers);
    assert.deepEqual([listed.status, JSON.parse(listed.text)], [200, []]);
    assert.equal((await get(headers, `${PATH}mine/`)).status, 404);
  });

  it('403, 401: if the tenant lacks the restaurant feature, its partner gets 403, and gets 401 if the secret is wrong', async () => {
    const { partner } = await service.tenant({ features: ['hotel'] });
    for (const [method, path] of [
      ['GET', '/v1/third-party/menu/'],
      ['GET', PATH],
      ['POST', PATH],
      ['GET', `${PATH}an-order/`],
      ['POST', `${PATH}an-order/cancel/`],
    ] as const) {
      const answer = await service.call(method, path, { headers: partner });
      assert.equal(answer.status, 403, path);
      assert.deepEqual(answer.body, {
        code: 'error',
        message: 'You do not have permission to perform this action.',
      });
    }
    assert.equal((await get({ ...partner, 'x-api-secret': secret })).status, 401);
  });
});
