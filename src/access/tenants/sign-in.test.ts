import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { after, before, describe, it } from 'node:test';
import { decodeJwt } from 'jose';
import type { Answer, CallOptions } from '#test/support/http.ts';
import { useService } from '#test/support/shared-service.ts';
import { OWNER_PASSWORD, STAFF_PASSWORD, sampleTenant } from '#test/support/tenants.ts';

const PATH = '/v1/auth/token/';

const service = await useService();
/** Number of password hashes that were computed during the tests. A check of a password also computes a hash. */
let hashes = 0;
const hook = createHook({
  init(_id, type) {
    hashes += type === 'ARGON2REQUEST' ? 1 : 0;
  },
});
before(async () => {
  // If the e-mail is unknown, the service compares the password with a decoy hash. The first sign-in with an unknown e-mail makes the decoy
  // hash. This sign-in happens here, before the tests count hashes.
  await signIn('nobody@nowhere.example', 'whatever it is');
  hook.enable();
});
after(() => void hook.disable());

const signIn = (email: unknown, password: unknown) => service.call('POST', PATH, { json: { email, password } });

/** Returns the parts of a response that must be equal for all refused sign-ins. */
function visible({ status, text, headers }: Answer) {
  const varying = ['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  return { status, text, headers: [...headers].filter(([name]) => !varying.includes(name)) };
}

describe('POST /v1/auth/token/', () => {
  it('200: the response to a sign-in holds exactly the token, its type, its lifetime of 8 hours, the role and the tenant', async () => {
    const { tenantId, document } = await service.tenant({ features: ['restaurant', 'hotel'] });
    const answer = await signIn(`owner@${document.slug}.example`, OWNER_PASSWORD);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { access_token } = answer.body;
    assert.deepEqual(answer.body, {
      access_token,
      token_type: 'Bearer',
      expires_in: 28_800,
      role: 'owner',
      tenant: { id: tenantId, name: 'Harbour House', features: ['hotel', 'restaurant'] },
    });
    const { exp = 0, iat = 0 } = decodeJwt(access_token);
    assert.equal(exp - iat, 28_800);
    assert.ok(Math.abs(Date.now() / 1000 - iat) < 60);
    const headers = { authorization: `Bearer ${access_token}` };
    assert.equal((await service.call('GET', '/v1/third-party/credentials/', { headers })).status, 200);
  });

  it('200: a staff user signs in with the role staff and may list the orders', async () => {
    const { document } = await service.tenant();
    const answer = await signIn(`staff@${document.slug}.example`, STAFF_PASSWORD);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.role, 'staff');
    const headers = { authorization: `Bearer ${answer.body.access_token}` };
    assert.equal((await service.call('GET', '/v1/staff/orders/', { headers })).status, 200);
  });

  it('200: a user whose e-mail was set up with capital letters signs in with this e-mail in any letter case', async () => {
    const { document } = await service.tenant({
      users: [{ email: 'Anna.Berg@Case.example', password: OWNER_PASSWORD, role: 'owner' }],
    });
    assert.equal(document.users?.length, 1);
    for (const email of [
      'Anna.Berg@Case.example',
      'anna.berg@case.example',
      'ANNA.BERG@CASE.EXAMPLE',
      ' anna.berg@case.example ',
    ]) {
      assert.equal((await signIn(email, OWNER_PASSWORD)).status, 200, email);
    }
  });

  it('200: the body of a sign-in may be a URL-encoded form or a multipart form', async () => {
    const { document } = await service.tenant();
    const fields = { email: `owner@${document.slug}.example`, password: OWNER_PASSWORD };
    const form = new FormData();
    Object.entries(fields).forEach(([name, value]) => form.set(name, value));
    for (const body of [new URLSearchParams(fields), form]) {
      assert.equal((await service.call('POST', PATH, { body })).status, 200);
    }
  });

  it('200: a password of 1,024 Unicode characters is accepted; 401: it is refused if a character is missing or changed', async () => {
    const password = 'Schlüssel 🔑 '.padEnd(1_024, 'é');
    const { document } = await service.tenant({ users: [{ email: 'long@pass.example', password, role: 'owner' }] });
    const email = document.users?.[0]?.email;
    assert.equal((await signIn(email, password)).status, 200);
    for (const other of [
      password.slice(0, -1),
      password.toUpperCase(),
      password.trimEnd().slice(1),
      ` ${password.slice(1)}`,
    ]) {
      assert.equal((await signIn(email, other)).status, 401);
    }
  });

  it('401: an unknown e-mail, a wrong password and a disabled user get the same response, and each sign-in computes one hash', async () => {
    const { document } = await service.tenant();
    const [owner, staff] = document.users ?? [];
    await service.apply({ ...document, users: [owner] });
    const earlier = hashes;
    const answers = [
      await signIn('nobody@nowhere.example', OWNER_PASSWORD),
      await signIn(owner?.email, 'not the right one'),
      await signIn(owner?.email, OWNER_PASSWORD.toUpperCase()),
      await signIn(staff?.email, STAFF_PASSWORD),
      await signIn(staff?.email, 'not the right one'),
    ];
    assert.equal(hashes - earlier, answers.length, 'the service hashes once for each sign-in');
    for (const answer of answers) {
      assert.deepEqual(visible(answer), visible(answers[0] as Answer));
    }
    assert.deepEqual(answers[0]?.body, {
      code: 'invalid_credentials',
      message: 'The e-mail or the password is wrong.',
    });
    assert.equal(answers[0]?.status, 401);
    assert.equal(answers[0]?.headers.get('www-authenticate'), 'Bearer');
  });

  it('401: a user of one tenant cannot sign in with the password of a user of another tenant', async () => {
    const [one, other] = [await service.tenant(), sampleTenant()];
    other.users = [{ email: `owner@${other.slug}.example`, password: 'quite another one', role: 'owner' }];
    await service.apply(other);
    assert.equal((await signIn(`owner@${other.slug}.example`, OWNER_PASSWORD)).status, 401);
    assert.equal((await signIn(`owner@${one.document.slug}.example`, 'quite another one')).status, 401);
  });

  it('400: the response names each sign-in field that is missing, empty, too long or not a text, and no password is hashed', async () => {
    const email = 'a@b.example';
    const password = 'a password';
    const text = (field: string) => `${field}: must be a text`;
    const faults: [unknown, string][] = [
      [{}, 'email: is required | password: is required'],
      [{ email }, 'password: is required'],
      [{ password }, 'email: is required'],
      [{ email: '', password: '' }, 'email: must not be empty | password: must not be empty'],
      [{ email: 1, password: true }, `${text('email')} | ${text('password')}`],
      [{ email: [email], password: { $ne: '' } }, `${text('email')} | ${text('password')}`],
      [{ email: null, password }, text('email')],
      [{ email: 'a'.repeat(255), password }, 'email: must have at most 254 characters'],
      [{ email, password: 'a'.repeat(1_025) }, 'password: must have at most 1024 characters'],
      [[email, password], 'body: must be an object'],
    ];
    const earlier = hashes;
    for (const [json, message] of faults) {
      const answer = await service.call('POST', PATH, { json });
      assert.equal(answer.status, 400);
      assert.deepEqual(answer.body, { code: 'invalid_request', message });
    }
    const undecodable: CallOptions = { headers: { 'content-type': 'application/json' }, body: '{"email":"a\\u0000"}' };
    assert.equal((await service.call('POST', PATH, undecodable)).body.code, 'invalid_request');
    assert.equal(hashes, earlier);
  });
});
