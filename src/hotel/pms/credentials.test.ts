import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { PMS } from '#test/support/pms.ts';
import type { CallOptions } from '#test/support/http.ts';
import { useService } from '#test/support/shared-service.ts';

const PATH = '/v1/channel-manager/credentials/';
const THIRD_PARTY_PATH = '/v1/third-party/credentials/';
const SECRET = ['id', 'label', 'api_key', 'api_secret'];
const READ = ['id', 'label', 'api_key', 'is_active', 'created_at', 'last_used_at', 'last_rotated_at'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Secret {
  id: string;
  label: string;
  api_key: string;
  api_secret: string;
}

const service = await useService();
const [tenant, other] = await Promise.all([service.tenant(), service.tenant()]);

describe('management of PMS credentials by the owner', () => {
  const call = (method: string, path: string, options: CallOptions = {}) =>
    service.call(method, path, { headers: tenant.owner, ...options });
  const create = async (label?: string): Promise<Secret> => {
    const answer = await call('POST', PATH, { json: label === undefined ? {} : { label } });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const callPms = ({ api_key, api_secret }: Pick<Secret, 'api_key' | 'api_secret'>) =>
    service.call('GET', `${PMS}/properties/`, {
      headers: { 'x-pms-api-key': api_key, 'x-pms-api-secret': api_secret },
    });

  it('201: the response to a new PMS credential holds its secret, and the PMS API accepts it', async () => {
    const answer = await call('POST', PATH, { json: { label: 'Opera' } });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(Object.keys(answer.body), SECRET);
    assert.match(answer.body.id, UUID);
    assert.equal(answer.body.label, 'Opera');
    assert.match(answer.body.api_key, /^rpk_/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal((await callPms(answer.body)).status, 200);
  });

  it('201: a PMS credential can be created without a label and without a body', async () => {
    assert.equal((await create()).label, '');
    const bare = await call('POST', PATH);
    assert.deepEqual([bare.status, bare.body.label], [201, '']);
  });

  it('200: the list of PMS credentials has the newest first, shows no secrets or webhook_url, and omits partner credentials', async () => {
    const own = await service.tenant();
    const list = async () => {
      const { status, text, body } = await call('GET', PATH, { headers: own.owner });
      assert.equal(status, 200, text);
      return body;
    };
    assert.deepEqual(await list(), [], 'the list does not show credentials of partners');
    for (const label of ['first', 'second']) {
      await call('POST', PATH, { headers: own.owner, json: { label } });
    }
    const [second, first, ...more] = await list();
    assert.deepEqual([second.label, first.label, more], ['second', 'first', []]);
    for (const credential of [second, first]) {
      assert.deepEqual(Object.keys(credential), READ);
      assert.equal(credential.is_active, true);
      assert.ok(!Number.isNaN(Date.parse(credential.created_at)));
      assert.deepEqual([credential.last_used_at, credential.last_rotated_at], [null, null]);
    }
    const partners = await call('GET', THIRD_PARTY_PATH, { headers: own.owner });
    assert.deepEqual(
      partners.body.map((credential: { id: string }) => credential.id),
      [own.credential.id],
    );
  });

  it('200, 401, 409: a PMS credential can be revoked twice, but after the revocation it cannot make calls or be rotated', async () => {
    const credential = await create('leaves');
    assert.equal((await callPms(credential)).status, 200);
    const revoked = await call('POST', `${PATH}${credential.id}/revoke/`);
    assert.equal(revoked.status, 200, revoked.text);
    assert.deepEqual(Object.keys(revoked.body), READ);
    assert.equal(revoked.body.is_active, false);
    assert.equal((await callPms(credential)).status, 401);
    const again = await call('POST', `${PATH}${credential.id}/revoke/`);
    assert.deepEqual([again.status, again.body.is_active], [200, false]);
    const rotated = await call('POST', `${PATH}${credential.id}/rotate/`);
    assert.deepEqual([rotated.status, rotated.body.code], [409, 'invalid_status_transition']);
  });

  it('200: rotating a PMS credential gives a new secret with the same key; 401: the next call with the old secret is refused', async () => {
    const credential = await create('turns');
    const rotated = await call('POST', `${PATH}${credential.id}/rotate/`);
    assert.equal(rotated.status, 200, rotated.text);
    assert.deepEqual(Object.keys(rotated.body), SECRET);
    assert.deepEqual(
      [rotated.body.id, rotated.body.label, rotated.body.api_key],
      [credential.id, credential.label, credential.api_key],
    );
    assert.notEqual(rotated.body.api_secret, credential.api_secret);
    assert.equal((await callPms(credential)).status, 401);
    assert.equal((await callPms(rotated.body)).status, 200);
    const listed = (await call('GET', PATH)).body.find((each: { id: string }) => each.id === credential.id);
    assert.ok(!Number.isNaN(Date.parse(listed.last_rotated_at)));
  });

  it('404 error: revoking or rotating an unknown id, or a credential of another tenant or API, gets the same response', async () => {
    const pms = await create();
    const strangers = await call('POST', PATH, { headers: other.owner, json: {} });
    const cases = [
      [PATH, tenant.credential.id],
      [THIRD_PARTY_PATH, pms.id],
      [PATH, strangers.body.id],
      [PATH, randomUUID()],
      [PATH, 'none'],
    ] as const;
    for (const action of ['revoke', 'rotate']) {
      const answers = await Promise.all(cases.map(([path, id]) => call('POST', `${path}${id}/${action}/`)));
      for (const answer of answers) {
        assert.deepEqual([answer.status, answer.body.code], [404, 'error'], answer.text);
        assert.equal(answer.text, answers[0]?.text);
      }
    }
    assert.equal((await callPms(pms)).status, 200);
    assert.equal((await callPms(strangers.body)).status, 200);
  });

  it('the stored row of a PMS credential does not contain its secret', async () => {
    const { api_secret } = await create();
    const rows = await service.database.db
      .selectFrom('credential')
      .selectAll()
      .where('tenant_id', '=', tenant.tenantId)
      .execute();
    const dump = JSON.stringify(rows) + rows.map((row) => row.secret_hash.toString('latin1')).join();
    assert.ok(!dump.includes(api_secret) && !dump.includes(api_secret.slice(4)));
  });
});
