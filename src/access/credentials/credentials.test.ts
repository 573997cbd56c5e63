import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallOptions } from '#test/support/http.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import type { Credential, CredentialSecret } from './schema.ts';

const PATH = '/v1/third-party/credentials/';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const REVOKED = 'The credential is revoked. Create a new one.';

const { service, tenant } = await useRestaurant();

async function create(options: CallOptions = {}, of: TestTenant = tenant): Promise<CredentialSecret> {
  const answer = await service.call('POST', PATH, { ...options, headers: { ...of.owner, ...options.headers } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function list(of: TestTenant = tenant): Promise<Credential[]> {
  const answer = await service.call('GET', PATH, { headers: of.owner });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const change = (id: string, what: 'revoke' | 'rotate', options: CallOptions = {}, of: TestTenant = tenant) =>
  service.call('POST', `${PATH}${id}/${what}/`, { ...options, headers: { ...of.owner, ...options.headers } });

async function statusWith({ api_key, api_secret }: { api_key: string; api_secret: string }): Promise<number> {
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret };
  return (await service.call('GET', '/v1/third-party/orders/', { headers })).status;
}

/**
 * Shortens an API key in the form in which lists show it. The test has its own copy of this function, because it must not use the code
 * that it tests.
 */
const shortened = (apiKey: string) => `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;

describe('POST /v1/third-party/credentials/', () => {
  it('201: the response to a new credential holds exactly its id, label, key and secret, and forbids caching', async () => {
    const answer = await service.call('POST', PATH, { headers: tenant.owner, json: { label: 'Till 1' } });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { id, api_key, api_secret } = answer.body;
    assert.deepEqual(answer.body, { id, label: 'Till 1', api_key, api_secret });
    assert.match(id, UUID);
    assert.match(api_key, /^rsk_[\w-]{22}$/);
    assert.match(api_secret, /^rss_[\w-]{43}$/);
    assert.equal(await statusWith(answer.body), 200);
  });

  it('201: if the body has no label or is missing, the new credential has an empty label, with any content type', async () => {
    const form = new FormData();
    form.set('unknown', 'is ignored');
    const bodies: CallOptions[] = [
      {},
      { json: {} },
      { headers: { 'content-type': 'application/json' }, body: '' },
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' },
      { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '' },
      { json: { tenant_id: 1, api_secret: 'mine' } },
      { body: form },
    ];
    for (const options of bodies) {
      assert.equal((await create(options)).label, '');
    }
  });

  it('201: a label in a URL-encoded or multipart body stays a text, for example "true"', async () => {
    const form = new FormData();
    form.set('label', 'true');
    assert.equal((await create({ body: new URLSearchParams({ label: '12 & Söhne' }) })).label, '12 & Söhne');
    assert.equal((await create({ body: form })).label, 'true');
  });

  it('201: a label may have 255 code points, even if each code point takes four bytes', async () => {
    for (const label of ['a'.repeat(255), '🏨'.repeat(255), 'é'.repeat(255)]) {
      const { id } = await create({ json: { label } });
      assert.equal((await list()).find((credential) => credential.id === id)?.label, label);
    }
  });
});

describe('GET /v1/third-party/credentials/', () => {
  it('200: each credential in the list has exactly the documented fields and no secret', async () => {
    const owner = await service.tenant();
    const [credential] = await list(owner);
    assert.ok(credential);
    assert.deepEqual(credential, {
      id: owner.credential.id,
      label: 'A platform',
      api_key: shortened(owner.credential.api_key),
      webhook_url: '',
      is_active: true,
      created_at: credential.created_at,
      last_used_at: null,
      last_rotated_at: null,
    });
    assert.match(credential.created_at ?? '', TIME);
    assert.ok(Math.abs(Date.now() - Date.parse(credential.created_at ?? '')) < 60_000);
  });

  it('200: if a credential gets a webhook URL, is rotated and is revoked, its list entry shows these three changes and has the same fields as before', async () => {
    const owner = await service.tenant();
    const keys = Object.keys((await list(owner))[0] ?? {});
    const webhook_url = 'https://partner.example/hook';
    await service.call('POST', '/v1/third-party/webhook/', { headers: owner.partner, json: { webhook_url } });
    await change(owner.credential.id, 'rotate', {}, owner);
    await change(owner.credential.id, 'revoke', {}, owner);
    const [credential] = await list(owner);
    assert.deepEqual(Object.keys(credential ?? {}), keys);
    assert.equal(credential?.webhook_url, webhook_url);
    assert.equal(credential.is_active, false);
    assert.match(credential.last_rotated_at ?? '', TIME);
  });

  it("200: an owner's list has only the credentials of the owner's tenant, newest first", async () => {
    const [one, other] = [await service.tenant(), await service.tenant()];
    const made = [one.credential.id];
    for (let count = 0; count < 5; count += 1) {
      made.unshift((await create({}, one)).id);
    }
    assert.deepEqual(
      (await list(one)).map((credential) => credential.id),
      made,
    );
    assert.deepEqual(
      (await list(other)).map((credential) => credential.id),
      [other.credential.id],
    );
  });

  it('200, 404: the credentials are listed in pages on request, and a request for a page after the last one gets a 404', async () => {
    const owner = await service.tenant();
    await create({}, owner);
    await create({}, owner);
    const all = await list(owner);
    const page = await service.call('GET', `${PATH}?page=2&page_size=2`, { headers: owner.owner });
    const previous = `${service.url}${PATH}?page=1&page_size=2`;
    assert.deepEqual(page.body, { count: 3, next: null, previous, results: all.slice(2) });
    const first = await service.call('GET', `${PATH}?page_size=2`, { headers: owner.owner });
    assert.equal(first.body.next, `${service.url}${PATH}?page_size=2&page=2`);
    assert.deepEqual(first.body.results, all.slice(0, 2));
    const past = await service.call('GET', `${PATH}?page=4&page_size=1`, { headers: owner.owner });
    assert.deepEqual([past.status, past.body.code], [404, 'error']);
  });
});

describe('POST /v1/third-party/credentials/{id}/revoke/', () => {
  it('200: revoking a credential returns it as inactive, and revoking it again gives the same response', async () => {
    const made = await create({ json: { label: 'Gone' } });
    const active = (await list()).find((credential) => credential.id === made.id);
    const first = await change(made.id, 'revoke');
    assert.equal(first.status, 200);
    assert.deepEqual(first.body, { ...active, is_active: false });
    assert.equal(await statusWith(made), 401);
    const second = await change(made.id, 'revoke');
    assert.equal(second.status, 200);
    assert.equal(second.text, first.text);
  });

  it('200: a credential can be revoked by a call with an empty body of any content type, and other credentials stay valid', async () => {
    const stays = await create();
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const { id } = await create();
      const answer = await change(id, 'revoke', { headers: { 'content-type': type }, body: '' });
      assert.equal(answer.status, 200, answer.text);
    }
    assert.equal(await statusWith(stays), 200);
  });
});

describe('POST /v1/third-party/credentials/{id}/rotate/', () => {
  it('200: rotating a credential returns exactly its id, label and key with a new secret, and the old secret is refused', async () => {
    const made = await create({ json: { label: 'Turns' } });
    const answer = await change(made.id, 'rotate');
    assert.equal(answer.status, 200);
    const { api_secret } = answer.body;
    assert.deepEqual(answer.body, { ...made, api_secret });
    assert.notEqual(api_secret, made.api_secret);
    assert.equal(await statusWith(made), 401);
    assert.equal(await statusWith(answer.body), 200);
  });

  it('200: three concurrent rotations leave exactly one of the three returned secrets valid', async () => {
    const made = await create();
    const answers = await Promise.all([1, 2, 3].map(() => change(made.id, 'rotate')));
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 200, 200],
    );
    const statuses = await Promise.all(answers.map((answer) => statusWith(answer.body)));
    assert.deepEqual(
      statuses.filter((status) => status === 200),
      [200],
    );
  });

  it('200: a rotation of the API secret keeps the webhook URL and its secret', async () => {
    const owner = await service.tenant();
    const json = { webhook_url: 'https://partner.example/hook' };
    await service.call('POST', '/v1/third-party/webhook/', { headers: owner.partner, json });
    const { api_secret } = (await change(owner.credential.id, 'rotate', {}, owner)).body;
    const headers = { ...owner.partner, 'x-api-secret': api_secret };
    const again = await service.call('POST', '/v1/third-party/webhook/', { headers, json });
    assert.deepEqual(again.body, { ...json, webhook_secret: '' });
  });

  it('409: a revoked credential cannot be rotated, and its secret stays refused', async () => {
    const made = await create();
    await change(made.id, 'revoke');
    const answer = await change(made.id, 'rotate');
    assert.equal(answer.status, 409);
    assert.deepEqual(answer.body, { code: 'invalid_status_transition', message: REVOKED });
    assert.equal(await statusWith(made), 401);
  });
});

describe('a whole API key', () => {
  const PMS_PATH = '/v1/channel-manager/credentials/';

  it('the whole API key is shown at creation and rotation, shortened in lists and revocations, and not shown in the audit trail', async () => {
    const own = await service.tenant();
    const call = async (method: string, path: string) => {
      const answer = await service.call(method, path, { headers: own.owner });
      assert.equal(Math.floor(answer.status / 100), 2, answer.text);
      return answer;
    };
    const made = [PATH, PMS_PATH].map((path) => call('POST', path));
    const issued = await Promise.all(made);
    const keys = [own.credential.api_key, ...issued.map(({ body }) => body.api_key)];
    const [thirdParty = '', pms = ''] = [PATH, PMS_PATH].map((path, index) => `${path}${issued[index]?.body.id}/`);
    for (const [index, path] of [thirdParty, pms].entries()) {
      assert.equal((await call('POST', `${path}rotate/`)).body.api_key, keys[index + 1]);
    }
    const answers = [
      await call('GET', PATH),
      await call('GET', PMS_PATH),
      await call('GET', `${PATH}?page=1`),
      await call('GET', `${PMS_PATH}?page=1`),
      await call('GET', '/v1/staff/credentials/'),
      await call('GET', '/v1/staff/credentials/?page_size=10'),
      await call('POST', `${thirdParty}revoke/`),
      await call('POST', `${pms}revoke/`),
    ];
    const audit = await call('GET', '/v1/staff/audit/');
    for (const { text } of [...answers, audit]) {
      assert.deepEqual(
        keys.filter((key) => text.includes(key)),
        [],
        text,
      );
    }
    for (const { text } of answers) {
      assert.ok(
        keys.some((key) => text.includes(`"api_key":"${shortened(key)}"`)),
        text,
      );
    }
  });
});

describe('an unknown credential', () => {
  it('200, 409: a credential is found by its id in capital letters, so revoking it succeeds, and rotating it then gets 409', async () => {
    const made = await create();
    assert.equal((await change(made.id.toUpperCase(), 'revoke')).status, 200);
    assert.equal((await change(made.id.toUpperCase(), 'rotate')).status, 409);
  });
});
