import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError } from '#test/support/answers.ts';
import { CHANNELS, channelHeaders, makeChannel, RECEIVER } from '#test/support/channel.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { entriesOf } from '#test/support/lists.ts';

let service: TestService;
let tenant: TestTenant;
const logged: string[] = [];
before(async () => {
  service = await startService({ onLog: (line) => logged.push(line) });
  tenant = await service.tenant({ features: ['hotel'] });
});
after(() => service.close());

const post = (path: string, json?: unknown, headers = tenant.owner) =>
  service.call('POST', path, { headers, ...(json === undefined ? {} : { json }) });

describe('POST /v1/channel-manager/channels/', () => {
  it('201: the response to the creation of a channel contains its key and its secret, and must not be cached', async () => {
    const { status, body, headers } = await post(CHANNELS, { source: 'Booking.example' });
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), ['id', 'source', 'channel_key', 'channel_secret']);
    assert.equal(body.source, 'Booking.example');
    assert.match(body.channel_key, /^rck_[\w-]{22}$/);
    assert.match(body.channel_secret, /^rss_[\w-]{43}$/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('201: two channels with the same source have different keys and different secrets', async () => {
    const [one, other] = [await makeChannel(service, tenant, 'twice'), await makeChannel(service, tenant, 'twice')];
    assert.notEqual(one.id, other.id);
    assert.notEqual(one.channel_key, other.channel_key);
    assert.notEqual(one.channel_secret, other.channel_secret);
  });

  it('201: spaces around a source are left out, so that they make no other source; 400: a source of spaces alone', async () => {
    assert.equal((await post(CHANNELS, { source: ' staywell\u00A0' })).body.source, 'staywell');
    const refused = await post(CHANNELS, { source: ' ' });
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_request']);
  });

  it('201: the source of a channel may have 100 non-ASCII characters, and the body may be a URL-encoded form', async () => {
    assert.equal((await post(CHANNELS, { source: '𝒃'.repeat(100) })).status, 201);
    const body = new URLSearchParams({ source: 'from a form' });
    assert.equal((await service.call('POST', CHANNELS, { headers: tenant.owner, body })).body.source, 'from a form');
  });

  it('neither the stored row nor the log contains the secret of a new channel', async () => {
    const { id, channel_secret } = await makeChannel(service, tenant);
    const row = await service.database.db
      .selectFrom('channel')
      .selectAll()
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const stored = Object.values(row).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    );
    const secrets = [
      channel_secret,
      channel_secret.slice(4),
      Buffer.from(channel_secret.slice(4), 'base64url').toString('latin1'),
    ];
    for (const secret of secrets) {
      assert.equal(
        stored.some((text) => text.includes(secret)),
        false,
      );
    }
    assert.equal(logged.join('').includes(channel_secret.slice(4)), false);
  });
});

describe('GET /v1/channel-manager/channels/', () => {
  it('200: the list of channels shows the newest first and no secrets', async () => {
    const own = await service.tenant({ features: ['hotel'] });
    const [first, second] = [await makeChannel(service, own, 'one'), await makeChannel(service, own, 'two')];
    const { status, body } = await service.call('GET', CHANNELS, { headers: own.owner });
    assert.equal(status, 200);
    const shown = ({ id, source, channel_key }: typeof first) => ({ id, source, channel_key, is_active: true });
    assert.deepEqual(
      body.map(({ created_at, ...channel }: { created_at: string }) => channel),
      [shown(second), shown(first)],
    );
    assert.match(body[0].created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe('POST /v1/channel-manager/channels/{id}/revoke/', () => {
  it('200: revoking a channel makes it inactive, and revoking it again gets the same response', async () => {
    const { id, source, channel_key } = await makeChannel(service, tenant);
    const first = await post(`${CHANNELS}${id}/revoke/`);
    assert.equal(first.status, 200, first.text);
    const { created_at } = first.body;
    assert.deepEqual(first.body, { id, source, channel_key, is_active: false, created_at });
    assert.deepEqual((await post(`${CHANNELS}${id.toUpperCase()}/revoke`)).body, first.body);
  });

  it('401: the receiver refuses calls of a revoked channel, but not calls of another channel of the same source', async () => {
    const [gone, other] = [await makeChannel(service, tenant, 'same'), await makeChannel(service, tenant, 'same')];
    await post(`${CHANNELS}${gone.id}/revoke/`);
    const call = (channel: typeof gone) =>
      service.call('POST', RECEIVER, { headers: channelHeaders(channel, '{}'), body: '{}' });
    assertError(await call(gone), 401, 'invalid_credentials');
    assertError(await call(other), 400, 'invalid_request');
  });
});

describe('POST /v1/channel-manager/channels/{id}/rotate/', () => {
  it('200: the response to a rotation has the fields of a creation, with a new key and a new secret, and the list shows the new key', async () => {
    const own = await service.tenant({ features: ['hotel'] });
    const old = await makeChannel(service, own, 'staywell');
    const answer = await post(`${CHANNELS}${old.id}/rotate/`, undefined, own.owner);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), Object.keys(old));
    assert.deepEqual([answer.body.id, answer.body.source], [old.id, 'staywell']);
    assert.match(answer.body.channel_key, /^rck_[\w-]{22}$/);
    assert.match(answer.body.channel_secret, /^rss_[\w-]{43}$/);
    assert.notEqual(answer.body.channel_key, old.channel_key);
    assert.notEqual(answer.body.channel_secret, old.channel_secret);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { body: list } = await service.call('GET', CHANNELS, { headers: own.owner });
    assert.deepEqual(
      list.map(({ channel_key }: { channel_key: string }) => channel_key),
      [answer.body.channel_key],
    );
    const audit = await entriesOf(service, '/v1/staff/audit/', own.owner);
    assert.deepEqual(
      [audit[0].action, audit[0].actor.type, audit[0].subject, audit[0].details],
      ['channel.rotated', 'user', old.id, { source: 'staywell' }],
    );
  });

  it('401: after a rotation of a channel, both nodes refuse the old key or secret; 400: calls with the new key and secret are refused only for their invalid body', async (t) => {
    const other = await startService({ beside: service });
    t.after(() => other.close());
    const old = await makeChannel(service, tenant);
    const call = (node: TestService, channel: Pick<typeof old, 'channel_key' | 'channel_secret'>) =>
      node.call('POST', RECEIVER, { headers: channelHeaders(channel, '{}'), body: '{}' });
    for (const node of [service, other]) {
      assertError(await call(node, old), 400, 'invalid_request');
    }
    const { body: fresh } = await post(`${CHANNELS}${old.id}/rotate/`);
    for (const node of [service, other]) {
      assertError(await call(node, old), 401, 'invalid_credentials');
      assertError(await call(node, { ...old, channel_key: fresh.channel_key }), 401, 'invalid_credentials');
      assertError(await call(node, { ...fresh, channel_key: old.channel_key }), 401, 'invalid_credentials');
      assertError(await call(node, fresh), 400, 'invalid_request');
    }
  });

  it('neither the stored row nor the log contains the secret of a rotated channel', async () => {
    const { id } = await makeChannel(service, tenant);
    const { body } = await post(`${CHANNELS}${id}/rotate/`);
    const row = await service.database.db
      .selectFrom('channel')
      .selectAll()
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.equal(row.channel_secret.toString('latin1').includes(body.channel_secret.slice(4)), false);
    assert.equal(logged.join('').includes(body.channel_secret.slice(4)), false);
  });

  it('409: a revoked channel cannot be rotated', async () => {
    const { id } = await makeChannel(service, tenant);
    await post(`${CHANNELS}${id}/revoke/`);
    assertError(await post(`${CHANNELS}${id}/rotate/`), 409, 'invalid_status_transition');
  });
});
