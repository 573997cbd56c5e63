import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { generateKeyPair, SignJWT } from 'jose';
import { startService, type TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { STAFF_PASSWORD } from '#test/support/tenants.ts';
import { setPassword } from './tenants.ts';

const OWNER_PATH = '/v1/third-party/credentials/';
const STAFF_PATH = '/v1/staff/orders/';

const { service, tenant } = await useRestaurant();
const ownerId = await userId(tenant, 'owner');

async function userId({ tenantId }: TestTenant, role: string): Promise<string> {
  const { db } = service.database;
  const users = db.selectFrom('app_user').select('id').where('tenant_id', '=', tenantId).where('role', '=', role);
  return (await users.executeTakeFirstOrThrow()).id;
}

const get = (path: string, authorization: string) => service.call('GET', path, { headers: { authorization } });

interface Token {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: Parameters<SignJWT['sign']>[0];
  subject?: string;
  issuer?: string;
  audience?: string;
  issuedAt?: number;
  expiresAt?: number | null;
}

/** Returns a token as the service signs it. `changes` may contain other claims, other header fields or another signing key. */
async function sign(changes: Token = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { issuer = 'roomservice', audience = 'roomservice', subject = ownerId, issuedAt = now } = changes;
  const { expiresAt = now + 600 } = changes;
  const token = new SignJWT({ tenant: tenant.tenantId, generation: 0, ...changes.claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...changes.header })
    .setSubject(subject)
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(issuedAt);
  return await (expiresAt === null ? token : token.setExpirationTime(expiresAt)).sign(
    changes.key ?? service.keyring.token,
  );
}

/** Builds an invalid token by hand from header, claims and signature, because the JWT library refuses to sign an invalid token. */
function assemble(header: object, claims: object, signer: (input: string) => string): string {
  const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${input}.${signer(input)}`;
}

async function assertRefused(authorization: string, path = OWNER_PATH): Promise<void> {
  const answer = await get(path, authorization);
  assert.equal(answer.status, 401, `${authorization.slice(0, 100)}: ${answer.text}`);
  assert.deepEqual(answer.body, {
    code: 'invalid_credentials',
    message: 'A valid bearer token is required. Sign in at /v1/auth/token/.',
  });
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
}

describe('a bearer token', () => {
  it("200: an owner's token is accepted with the scheme Bearer in any letter case and before several spaces", async () => {
    const token = await sign();
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) {
      assert.equal((await get(OWNER_PATH, `${scheme} ${token}`)).status, 200);
    }
  });

  it('401: a bearer token is refused if it is missing or malformed, or if the Authorization scheme is not Bearer', async () => {
    const token = await sign();
    const values = [
      '',
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Token ${token}`,
      `Bearer ${token} ${token}`,
      'Bearer a',
      'Bearer a.b',
      'Bearer a.b.c',
      'Bearer ..',
      'Bearer e30.e30.',
      `Bearer ${token}.${token}`,
      `Bearer "${token}"`,
      'Bearer null',
      `Bearer ${'a'.repeat(8_000)}`,
      'Bearer ÿÿÿ',
    ];
    for (const value of values) {
      await assertRefused(value);
    }
    const none = await service.call('GET', OWNER_PATH);
    assert.deepEqual([none.status, none.body.code], [401, 'invalid_credentials']);
    assert.equal(none.headers.get('www-authenticate'), 'Bearer');
  });

  it('401: a bearer token that is expired, not yet valid or without expiry is refused', async () => {
    const now = Math.floor(Date.now() / 1000);
    await assertRefused(`Bearer ${await sign({ issuedAt: now - 28_801, expiresAt: now - 1 })}`);
    await assertRefused(`Bearer ${await sign({ claims: { nbf: now + 600 } })}`);
    await assertRefused(`Bearer ${await sign({ expiresAt: null })}`);
  });

  it('401: a bearer token is refused if its issuer, its audience or its signing key is wrong', async () => {
    await assertRefused(`Bearer ${await sign({ issuer: 'https://id.example' })}`);
    await assertRefused(`Bearer ${await sign({ audience: 'another service' })}`);
    await assertRefused(`Bearer ${await sign({ key: randomBytes(32) })}`);
    await assertRefused(`Bearer ${await sign({ key: service.keyring.pepper })}`);
    await assertRefused(`Bearer ${await sign({ key: service.masterKey })}`);
  });

  it('401: a bearer token is refused unless its algorithm is HS256; "none" is refused in any letter case', async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      tenant: tenant.tenantId,
      generation: 0,
      sub: ownerId,
      iss: 'roomservice',
      aud: 'roomservice',
      iat: now,
      exp: now + 600,
    };
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'HS256 ', undefined]) {
      await assertRefused(`Bearer ${assemble({ alg, typ: 'JWT' }, claims, () => '')}`);
    }
    const right = (input: string) => createHmac('sha256', service.keyring.token).update(input).digest('base64url');
    assert.equal((await get(OWNER_PATH, `Bearer ${assemble({ alg: 'HS256' }, claims, right)}`)).status, 200);
    for (const alg of ['none', 'RS256', 'dir']) {
      await assertRefused(`Bearer ${assemble({ alg }, claims, right)}`);
    }
    for (const bits of [384, 512]) {
      const longer = (input: string) =>
        createHmac(`sha${bits}`, service.keyring.token).update(input).digest('base64url');
      await assertRefused(`Bearer ${assemble({ alg: `HS${bits}` }, claims, longer)}`);
    }
    const { privateKey } = await generateKeyPair('RS256');
    await assertRefused(`Bearer ${await sign({ header: { alg: 'RS256' }, key: privateKey })}`);
  });

  it('401: a bearer token with an unknown critical header (crit) is refused', async () => {
    const right = (input: string) => createHmac('sha256', service.keyring.token).update(input).digest('base64url');
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      tenant: tenant.tenantId,
      generation: 0,
      sub: ownerId,
      iss: 'roomservice',
      aud: 'roomservice',
      exp: now + 600,
    };
    await assertRefused(`Bearer ${assemble({ alg: 'HS256', crit: ['x'], x: 1 }, claims, right)}`);
  });

  it('401: a bearer token with one character changed is refused', async () => {
    const token = await sign();
    const position = fc.nat({ max: token.length - 2 });
    const character = fc.constantFrom('A', 'Q', 'g', 'w', 'z', '0', '-', '_');
    await fc.assert(
      fc.asyncProperty(position, character, async (index, other) => {
        fc.pre(token[index] !== other && token[index] !== '.');
        const answer = await get(OWNER_PATH, `Bearer ${token.slice(0, index)}${other}${token.slice(index + 1)}`);
        assert.equal(answer.status, 401);
      }),
      { numRuns: 60 },
    );
  });

  it('401: a bearer token is refused if its user does not exist, or belongs to another tenant than the token says', async () => {
    const other = await service.tenant();
    await assertRefused(`Bearer ${await sign({ subject: randomUUID() })}`);
    await assertRefused(`Bearer ${await sign({ claims: { tenant: other.tenantId } })}`);
    await assertRefused(`Bearer ${await sign({ claims: { tenant: 0 } })}`);
    await assertRefused(`Bearer ${await sign({ claims: { tenant: String(tenant.tenantId) } })}`);
    await assertRefused(`Bearer ${await sign({ claims: { tenant: undefined } })}`);
  });
});

describe("the user's row in the database", () => {
  it('401: as soon as is_active of a user is false in the database, every node refuses the token of the user; 200: with is_active true, the token is accepted', async () => {
    const { owner, document } = await service.tenant();
    const node = await startService({ beside: service });
    const statuses = async () =>
      Promise.all([service, node].map(async (each) => (await each.call('GET', OWNER_PATH, { headers: owner })).status));
    const setActive = async (isActive: boolean) => {
      const email = `owner@${document.slug}.example`;
      await service.database.db
        .updateTable('app_user')
        .set({ is_active: isActive })
        .where('email', '=', email)
        .execute();
    };
    try {
      assert.deepEqual(await statuses(), [200, 200]);
      await setActive(false);
      assert.deepEqual(await statuses(), [401, 401]);
      await setActive(true);
      assert.deepEqual(await statuses(), [200, 200]);
    } finally {
      await node.close();
    }
  });

  it('401: a token is refused after its user was removed from the JSON file of the tenant, even if the user was added again; 200: a new token is accepted', async () => {
    const { document, staff, owner } = await service.tenant();
    const [ownerDocument, staffDocument] = document.users ?? [];
    await service.apply({ ...document, users: [ownerDocument] });
    await assertRefused(staff['authorization'] ?? '', STAFF_PATH);
    assert.equal((await service.call('GET', OWNER_PATH, { headers: owner })).status, 200);
    await service.apply({ ...document, users: [ownerDocument, staffDocument] });
    await assertRefused(staff['authorization'] ?? '', STAFF_PATH);
    const json = { email: staffDocument?.email, password: STAFF_PASSWORD };
    const { body } = await service.call('POST', '/v1/auth/token/', { json });
    const headers = { authorization: `Bearer ${body.access_token}` };
    assert.equal((await service.call('GET', STAFF_PATH, { headers })).status, 200);
  });

  it('200: a user stays enabled if the new tenant document has no list of users', async () => {
    const { document, staff } = await service.tenant();
    const { users: _users, ...rest } = document;
    await service.apply(rest);
    assert.equal((await service.call('GET', STAFF_PATH, { headers: staff })).status, 200);
  });

  it('403: an owner who becomes staff loses owner-only endpoints immediately, because the role is read at each call', async () => {
    const { document, owner } = await service.tenant();
    const [first, second] = document.users ?? [];
    const users = [
      { ...first, role: 'staff' },
      { ...second, role: 'owner' },
    ];
    await service.apply({ ...document, users });
    assert.equal((await service.call('GET', OWNER_PATH, { headers: owner })).status, 403);
  });
});

describe('a new password', () => {
  const NEW_PASSWORD = 'quite another password';
  const signIn = (email: string | undefined, password: string | undefined) =>
    service.call('POST', '/v1/auth/token/', { json: { email, password } });
  const statusOf = async (token: string) => (await get(STAFF_PATH, `Bearer ${token}`)).status;

  async function signedIn() {
    const { document, tenantId } = await service.tenant();
    const [owner, staff] = document.users ?? [];
    assert.ok(owner && staff);
    const answers = [await signIn(owner.email, owner.password), await signIn(staff.email, staff.password)];
    const [ownerToken, staffToken] = answers.map((answer): string => answer.body.access_token);
    assert.ok(ownerToken && staffToken);
    assert.deepEqual([await statusOf(ownerToken), await statusOf(staffToken)], [200, 200]);
    return { document, tenantId, owner, staff, ownerToken, staffToken };
  }

  it("401: a new password in the tenant document ends the user's tokens immediately, but not the tokens of other users", async () => {
    const { document, owner, staff, ownerToken, staffToken } = await signedIn();
    await service.apply({ ...document, users: [{ ...owner, password: NEW_PASSWORD }, staff] });
    await assertRefused(`Bearer ${ownerToken}`, STAFF_PATH);
    assert.equal(await statusOf(staffToken), 200);
    const { body } = await signIn(owner.email, NEW_PASSWORD);
    assert.equal(await statusOf(body.access_token), 200);
  });

  it('401: each time the operator sets a password, all earlier tokens are refused, even if a previous password is set again', async () => {
    const { tenantId, owner, ownerToken } = await signedIn();
    const tokens = [ownerToken];
    for (const password of [NEW_PASSWORD, owner.password ?? '']) {
      await setPassword(service.database.db, tenantId, owner.email, password);
      for (const token of tokens) {
        await assertRefused(`Bearer ${token}`, STAFF_PATH);
      }
      const { body } = await signIn(owner.email, password);
      assert.equal(await statusOf(body.access_token), 200);
      tokens.push(body.access_token);
    }
  });

  it('200: if the claim "generation" equals the number of password changes of the user, a token is accepted; 401: other values are refused', async () => {
    const { tenantId, staff } = await signedIn();
    const subject = await userId({ tenantId } as TestTenant, 'staff');
    const signed = (generation: unknown) => sign({ subject, claims: { tenant: tenantId, generation } });
    assert.equal(await statusOf(await signed(0)), 200);
    for (const generation of [undefined, 1, -1, '0', null, [0], false]) {
      await assertRefused(`Bearer ${await signed(generation)}`, STAFF_PATH);
    }
    await setPassword(service.database.db, tenantId, staff.email, NEW_PASSWORD);
    assert.equal(await statusOf(await signed(1)), 200);
    for (const generation of [undefined, 0, 2]) {
      await assertRefused(`Bearer ${await signed(generation)}`, STAFF_PATH);
    }
  });
});

describe('an owner-only endpoint', () => {
  it('200: an owner may also call an endpoint for staff, for example the list of orders', async () => {
    assert.equal((await service.call('GET', STAFF_PATH, { headers: tenant.owner })).status, 200);
  });
});
