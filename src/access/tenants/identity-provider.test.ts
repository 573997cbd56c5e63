import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { exportSPKI } from 'jose';
import {
  AUDIENCE,
  ISSUER,
  type KeyServer,
  makeKey,
  type SigningKey,
  signToken,
  startKeyServer,
  startWithProvider,
  stopKeyServer as stop,
} from '#test/support/identity-provider.ts';
import { choosePassword, invite } from '#test/support/people.ts';
import type { TestService, TestTenant } from '#test/support/service.ts';
import { age, CONSOLE, consoleHeaders, ME, SESSION, tokenOf } from '#test/support/sessions.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';
import { setPassword } from './tenants.ts';

const PATH = '/v1/third-party/credentials/';

let rsa: SigningKey;
let elliptic: SigningKey;
let provider: KeyServer;
let first: TestService;
let tenant: TestTenant;
let email: string;
before(async () => {
  [rsa, elliptic] = await Promise.all([makeKey('RS256', 'rsa-1'), makeKey('ES256', 'ec-1')]);
  provider = await startKeyServer([rsa.jwk, elliptic.jwk]);
  first = await startWithProvider(provider);
  tenant = await first.tenant();
  email = `owner@${tenant.document.slug}.example`;
});
after(async () => {
  await first.close();
  await stop(provider);
});

const sign = (key: SigningKey, claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  signToken(key, { email, ...claims }, header);

const call = (token: string, service = first) =>
  service.call('GET', PATH, { headers: { authorization: `Bearer ${token}` } });

async function assertRefused(token: string): Promise<void> {
  const answer = await call(token);
  assert.equal(answer.status, 401, answer.text);
  assert.equal(answer.body.code, 'invalid_credentials');
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
}

/** Values of `email_verified` that are refused under every configuration. */
const UNVERIFIED = [false, 'false', null, 'yes', 1, [true]].map((email_verified) => ({ email_verified }));

describe('a token of the configured identity provider', () => {
  it("200: a token that the provider signed with RS256 or ES256 gives the rights of the user with the token's e-mail", async () => {
    for (const key of [rsa, elliptic]) {
      const answer = await call(await sign(key));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body[0].id, tenant.credential.id);
    }
  });

  it("200: a provider's token is accepted if its verified e-mail is in capital letters, or if it has several audiences", async () => {
    for (const claims of [{ email: email.toUpperCase() }, { email_verified: true }, { email_verified: 'true' }]) {
      assert.equal((await call(await sign(rsa, claims))).status, 200);
    }
    assert.equal((await call(await sign(rsa, { aud: ['others', AUDIENCE] }))).status, 200);
  });

  it("200: if an identity provider is configured, the service's own tokens are still accepted", async () => {
    assert.equal((await first.call('GET', PATH, { headers: tenant.owner })).status, 200);
  });

  it("200: a new password does not end the identity provider's token; 401: it ends the service's own token", async () => {
    const other = await first.tenant();
    const theirs = `owner@${other.document.slug}.example`;
    const token = await sign(rsa, { email: theirs });
    await setPassword(first.database.db, other.tenantId, theirs, 'quite another password');
    assert.equal((await call(token)).status, 200);
    assert.equal((await first.call('GET', PATH, { headers: other.owner })).status, 401);
  });

  it("403: the role comes from the stored user, not from the role claim of the provider's token", async () => {
    const staff = await sign(rsa, { email: email.replace('owner', 'staff'), role: 'owner' });
    const answer = await call(staff);
    assert.deepEqual([answer.status, answer.body.code], [403, 'error']);
  });

  it("401: a provider's token with an unknown, unverified, missing or malformed e-mail is refused", async () => {
    for (const claims of [
      { email: 'nobody@nowhere.example' },
      { email_verified: undefined },
      ...UNVERIFIED,
      { email: undefined },
      { email: [email] },
      { email: '' },
    ]) {
      await assertRefused(await sign(rsa, claims));
    }
  });

  it('200: a token without email_verified is accepted if the configuration allows it; 401: a token whose email_verified is neither true nor the text true is refused', async () => {
    const node = await startWithProvider(provider, first, false);
    try {
      assert.equal((await call(await sign(rsa, { email_verified: undefined }), node)).status, 200);
      assert.equal((await call(await sign(rsa), node)).status, 200);
      for (const claims of UNVERIFIED) {
        assert.equal((await call(await sign(rsa, claims), node)).status, 401);
      }
    } finally {
      await node.close();
    }
  });

  it("200: a provider's token begins a session with a cookie; 401: the session ends after 12 hours, even if it is in use", async () => {
    const headers = { ...CONSOLE, authorization: `Bearer ${await sign(rsa)}` };
    const answer = await first.call('POST', SESSION, { headers });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('set-cookie') ?? '', /; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    assert.deepEqual([answer.body.person.email, answer.body.session.kind], [email, 'person']);
    const cookie = consoleHeaders(tokenOf(answer));
    const statusOf = async () => (await first.call('GET', ME, { headers: cookie })).status;
    await age(first, answer.body.session.id, { begun: '11 h 59 min' });
    assert.equal(await statusOf(), 200);
    await age(first, answer.body.session.id, { begun: '1 min' });
    assert.equal(await statusOf(), 401);
  });

  it("400: a provider's token with a password or without the header X-Roomservice-Console begins no session; 401: a provider's token for an unknown user begins no session", async () => {
    const authorization = `Bearer ${await sign(rsa)}`;
    const start = async (headers: Record<string, string>, json: unknown = {}) =>
      (await first.call('POST', SESSION, { headers, json })).status;
    assert.equal(await start({ ...CONSOLE, authorization }, { email, password: OWNER_PASSWORD }), 400);
    assert.equal(await start({ authorization }), 400);
    const unknown = `Bearer ${await sign(rsa, { email: 'nobody@nowhere.example' })}`;
    assert.equal(await start({ ...CONSOLE, authorization: unknown }), 401);
    assert.equal(await start({ ...CONSOLE, ...tenant.owner }), 401);
  });

  it("401: a provider's token for a disabled user is refused", async () => {
    const other = await first.tenant();
    const token = await sign(rsa, { email: `staff@${other.document.slug}.example` });
    assert.equal((await call(token)).status, 403);
    await first.apply({ ...other.document, users: other.document.users?.slice(0, 1) });
    await assertRefused(token);
  });

  it("401: a provider's token for an invited person is refused; 200: it is accepted after the person has accepted the invitation", async () => {
    const invited = await invite(first, tenant);
    const token = await sign(rsa, { email: invited.body.person.email });
    await assertRefused(token);
    assert.equal((await choosePassword(first, invited)).status, 200);
    assert.equal((await first.call('GET', ME, { headers: { authorization: `Bearer ${token}` } })).status, 200);
  });

  it("200: a provider's token is accepted if the provider's clock is 20 s ahead or behind", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [{ exp: now - 20 }, { nbf: now + 20 }, { iat: now + 20 }]) {
      assert.equal((await call(await sign(rsa, claims))).status, 200, JSON.stringify(claims));
    }
  });

  it("401: a provider's token is refused if it has a wrong issuer or audience, is expired, is not yet valid or has no expiry", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [
      { iss: 'https://other.example/' },
      { iss: 'roomservice' },
      { iss: undefined },
      { aud: 'another-client' },
      { aud: undefined },
      { exp: now - 31 },
      { exp: undefined },
      { nbf: now + 600 },
    ]) {
      await assertRefused(await sign(rsa, claims));
    }
  });
});

describe('a forged token of the identity provider', () => {
  const forge = (alg: string, secret: string | Buffer | null) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: ISSUER, aud: AUDIENCE, email, iat: now, exp: now + 600 };
    const parts = [{ alg, kid: rsa.kid }, claims];
    const input = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${input}.${secret === null ? '' : createHmac('sha256', secret).update(input).digest('base64url')}`;
  };

  it("401: an HS256 token is refused if its shared secret is the provider's public key in any encoding", async () => {
    const pem = await exportSPKI(rsa.publicKey);
    const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    for (const secret of [pem, pem.trim(), der, JSON.stringify(rsa.jwk), rsa.jwk.n ?? '']) {
      await assertRefused(forge('HS256', secret));
    }
  });

  it("401: a token with the provider's issuer is refused if the service's HS256 key signed it, or if it is not signed at all", async () => {
    await assertRefused(forge('HS256', first.keyring.token));
    await assertRefused(forge('none', null));
  });

  it("401: a token signed with an unknown key is refused, even if its key id (kid) is that of a provider's key", async () => {
    for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
      const stranger = await makeKey(alg, 'stranger-1');
      for (const kid of [rsa.kid, elliptic.kid, undefined, 'stranger-1', '../../keys', "' OR 1=1"]) {
        await assertRefused(await sign(stranger, {}, { kid }));
      }
    }
  });

  it('401: a token whose header contains or links its signing key is refused, and the service does not fetch the linked URL', async () => {
    const stranger = await makeKey('RS256', rsa.kid);
    const strangers = await startKeyServer([stranger.jwk]);
    try {
      const address = strangers.url.href;
      for (const header of [
        { jwk: stranger.jwk },
        { jku: address },
        { x5u: address },
        { jku: address, jwk: stranger.jwk },
      ]) {
        await assertRefused(await sign(stranger, {}, header));
        await assertRefused(await sign(stranger, { iss: address }, header));
      }
      assert.equal(strangers.requestCount, 0);
    } finally {
      await stop(strangers);
    }
  });

  it("20 tokens with unknown key ids make the service fetch the provider's key set at most once", async () => {
    const fetched = provider.requestCount;
    for (let count = 0; count < 20; count += 1) {
      await assertRefused(await sign(rsa, {}, { kid: `unknown-${count}` }));
    }
    assert.ok(provider.requestCount - fetched <= 1, `${provider.requestCount - fetched} times`);
  });
});

describe('an unavailable key set of the identity provider', () => {
  let node: TestService;
  let broken: KeyServer;
  beforeEach(async () => {
    broken = await startKeyServer([rsa.jwk]);
    node = await startWithProvider(broken, first);
  });
  const closing = async () => {
    await node.close();
    await stop(broken).catch(() => {});
  };

  async function assertUnavailable(): Promise<void> {
    const answer = await call(await sign(rsa), node);
    assert.equal(answer.status, 503, answer.text);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.ok(!answer.text.includes(broken.url.host), 'the response does not show the host of the key set');
    assert.equal(
      (await node.call('GET', PATH, { headers: tenant.owner })).status,
      200,
      'tokens of the service are still accepted',
    );
  }

  it("503: a provider's token is refused while the provider's key set cannot be read; 200: it is accepted afterwards", async () => {
    const { answer } = broken;
    try {
      for (const bad of [
        (response: ServerResponse) => response.writeHead(500).end(),
        (response: ServerResponse) => response.writeHead(302, { location: provider.url.href }).end(),
        (response: ServerResponse) => response.end('<html>'),
        (response: ServerResponse) => response.end('{"keys": 1}'),
        (response: ServerResponse) => response.end('null'),
        (response: ServerResponse) => response.destroy(),
      ]) {
        broken.answer = bad;
        await assertUnavailable();
      }
      broken.answer = answer;
      assert.equal((await call(await sign(rsa), node)).status, 200);
    } finally {
      await closing();
    }
  });

  it("503: if no server listens at the URL of the key set, a provider's token gets 503 with a Retry-After header", async () => {
    try {
      await stop(broken);
      await assertUnavailable();
    } finally {
      await closing();
    }
  });

  it("503: a provider's token gets 503 if the key server never responds; 401: a token of another issuer is still refused", async () => {
    broken.answer = () => {};
    try {
      const [answer, forged] = await Promise.all([
        call(await sign(rsa), node),
        call(await sign(rsa, { iss: 'https://other.example' }), node),
      ]);
      assert.equal(answer.status, 503);
      assert.equal(forged.status, 401);
    } finally {
      await closing();
    }
  });
});

describe('new keys at the identity provider', () => {
  it('200: a minute after the provider replaces its key, the new key is accepted; 401: the replaced key is refused', async () => {
    const [old, next] = [await makeKey('ES256', 'old'), await makeKey('ES256', 'next')];
    const rotating = await startKeyServer([old.jwk]);
    const node = await startWithProvider(rotating, first);
    try {
      assert.equal((await call(await sign(old), node)).status, 200);
      rotating.keys = [next.jwk];
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
      assert.equal((await call(await sign(next), node)).status, 200);
      assert.equal((await call(await sign(old), node)).status, 401);
    } finally {
      mock.timers.reset();
      await node.close();
      await stop(rotating);
    }
  });
});
