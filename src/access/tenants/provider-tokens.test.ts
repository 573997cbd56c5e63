import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it, mock, type TestContext } from 'node:test';
import type { JWK } from 'jose';
import {
  ISSUER,
  makeKey,
  providerAt,
  type SigningKey,
  signToken,
  startKeyServer,
  startWithProvider,
  stopKeyServer,
} from '#test/support/identity-provider.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { countProviderKeys } from './provider-tokens.ts';

const PATH = '/v1/third-party/credentials/';

const { service: first, tenant } = await useRestaurant();
const [rsa, elliptic] = await Promise.all([makeKey('RS256', 'rsa-1'), makeKey('ES256', 'ec-1')]);
const email = `owner@${tenant.document.slug}.example`;

const sign = (key: SigningKey, claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  signToken(key, { email, ...claims }, header);

describe('the keys of the identity provider', () => {
  /** Starts a provider with these keys and a node that uses it. Returns a function that calls the node with a token. */
  async function provide(t: TestContext, keys: JWK[], onLog?: (line: string) => void) {
    const own = await startKeyServer(keys);
    const node = await startWithProvider(own, first, true, onLog);
    t.after(async () => {
      await node.close();
      await stopKeyServer(own);
    });
    return {
      own,
      statusOf: async (token: string) =>
        (await node.call('GET', PATH, { headers: { authorization: `Bearer ${token}` } })).status,
    };
  }

  it('200: a token of each asymmetric algorithm is accepted, and config check counts its key', async (t) => {
    const algorithms = [
      'RS256',
      'RS384',
      'RS512',
      'PS256',
      'PS384',
      'PS512',
      'ES256',
      'ES384',
      'ES512',
      'EdDSA',
      'Ed25519',
    ];
    const keys = await Promise.all([...algorithms, 'ML-DSA-44'].map((alg) => makeKey(alg, `key-${alg}`)));
    const { own, statusOf } = await provide(
      t,
      keys.map(({ jwk }) => jwk),
    );
    for (const key of keys) {
      assert.equal(await statusOf(await sign(key)), 200, key.alg);
    }
    assert.equal(await countProviderKeys(providerAt(own)), keys.length);
  });

  it('config check does not count keys that cannot verify a token', async (t) => {
    const { jwk } = rsa;
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' }) as JWK;
    const { x, y } = elliptic.jwk;
    const { own } = await provide(t, [
      jwk,
      short,
      { ...jwk, use: 'enc' },
      { ...jwk, alg: 'RSA-OAEP' },
      { ...jwk, alg: 'HS256' },
      { ...jwk, key_ops: ['encrypt'] },
      { ...jwk, n: '' },
      { kty: 'oct', k: 'c2VjcmV0' },
      { kty: 'EC', crv: 'secp256k1', ...(x && y ? { x, y } : {}) },
      { kty: 'OKP', crv: 'X25519', x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' },
    ]);
    assert.equal(await countProviderKeys(providerAt(own)), 1);
  });

  it('200: a token is accepted if one of several keys without a key id (kid) signed it; 401: it is refused if no key signed it', async (t) => {
    const [one, two, stranger] = await Promise.all(['a', 'b', 'c'].map((kid) => makeKey('RS256', kid)));
    assert.ok(one && two && stranger);
    const bare = ({ jwk: { kid: _, ...rest } }: SigningKey): JWK => rest;
    const { own, statusOf } = await provide(t, [bare(one), bare(two)]);
    for (const key of [one, two]) {
      assert.equal(await statusOf(await sign(key, {}, { kid: undefined })), 200);
      assert.equal(await statusOf(await sign(key)), 200);
    }
    assert.equal(await statusOf(await sign(one, { aud: 'another-client' }, { kid: undefined })), 401);
    assert.equal(await statusOf(await sign(stranger, {}, { kid: undefined })), 401);
    own.keys = [bare(stranger)];
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
    t.after(() => mock.timers.reset());
    assert.equal(await statusOf(await sign(stranger, {}, { kid: undefined })), 200);
  });

  it('200: a token without a key id (kid) is accepted from each of several keys that have one', async (t) => {
    const [one, two] = [await makeKey('ES256', 'a'), await makeKey('ES256', 'b')];
    const { statusOf } = await provide(t, [one.jwk, two.jwk]);
    for (const key of [one, two]) {
      assert.equal(await statusOf(await sign(key, {}, { kid: undefined })), 200);
    }
  });

  it('200: the key set is read after an unexpected 100, and with 20 KiB of headers or a folded header', async (t) => {
    for (const head of [
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n',
      `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(20_480)}\r\n`,
      'HTTP/1.1 200 OK\r\nx-folded: a\r\n b\r\n',
    ]) {
      const { own, statusOf } = await provide(t, []);
      own.answer = ({ socket }) =>
        socket?.end(`${head}connection: close\r\n\r\n${JSON.stringify({ keys: [rsa.jwk] })}`);
      assert.equal(await statusOf(await sign(rsa)), 200, head.slice(0, 50));
    }
  });

  it('a log line names the reason why a token of the provider was refused, and contains no part of the token', async (t) => {
    const lines: string[] = [];
    const { statusOf } = await provide(t, [rsa.jwk], (line) => lines.push(line));
    const now = Math.floor(Date.now() / 1000);
    for (const [token, reason] of [
      [await sign(rsa, { exp: now - 31 }), /"exp"/],
      [await sign(rsa, { nbf: now + 60 }), /"nbf"/],
      [await sign(rsa, { aud: 'another-client' }), /"aud"/],
      [await sign(rsa, { email_verified: false }), /email_verified/],
      [await sign(rsa, { email: undefined }), /claim email/],
      [await sign(rsa, { iss: `${ISSUER}extra` }), /AUTH_ISSUER/],
      [await sign(rsa, {}, { kid: 'unknown' }), /no applicable key/],
      [await sign(await makeKey('RS256', rsa.kid)), /signature/],
      [await sign(rsa, { email: 'nobody@nowhere.example' }), /no active person/],
    ] as const) {
      lines.length = 0;
      assert.equal(await statusOf(token), 401);
      const line = lines.find((each) => each.includes('a token of the identity provider was refused')) ?? '';
      assert.match(JSON.parse(line).reason, reason);
      assert.ok(token.split('.').every((part) => !lines.join('').includes(part)));
    }
  });
});
