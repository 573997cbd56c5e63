import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { useRestaurant } from '#test/support/shared-service.ts';
import { etagOf } from './etag.ts';

const MENU = '/v1/third-party/menu/';

const { service, tenant } = await useRestaurant();

describe('GET menu with If-None-Match', () => {
  let etag: string;
  before(async () => {
    etag = (await get()).headers.get('etag') ?? '';
  });

  const get = (ifNoneMatch?: string, path = MENU, method = 'GET') =>
    service.call(method, path, {
      headers: {
        ...tenant.partner,
        'accept-encoding': 'identity',
        ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
      },
    });

  it('200: the menu has a strong ETag that is computed from its bytes, and a second call gets the same ETag', async () => {
    const answer = await get();
    assert.match(etag, /^"[\w-]{27}"$/);
    assert.equal(answer.headers.get('etag'), etag);
    assert.equal(etag, etagOf(answer.text));
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
  });

  it('304: the menu is not sent if If-None-Match is its ETag, its weak ETag, a list that contains its ETag, or an asterisk', async () => {
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, `"a",W/${etag},"b"`, ` ${etag} `, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await get(header, MENU, method);
        assert.deepEqual([answer.status, answer.text], [304, ''], header);
        assert.equal(answer.headers.get('etag'), etag);
        assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
        assert.ok(answer.headers.has('x-request-id') && answer.headers.has('x-ratelimit-remaining'));
      }
    }
  });

  it('200: the menu is sent if If-None-Match is not its ETag or is malformed', async () => {
    for (const header of ['"other"', etag.slice(1, -1), `"${etag}"`, etag.toLowerCase(), `w/${etag}`, '"*"', ',', '']) {
      assert.equal((await get(header)).status, 200, header);
    }
  });

  it('200: if the menu has changed, If-None-Match with the old ETag gets the menu with a new ETag', async () => {
    const { partner, staff } = await service.tenant();
    const read = (headers: object) => service.call('GET', MENU, { headers: { ...partner, ...headers } });
    const oldTag = (await read({})).headers.get('etag') ?? '';
    const change = { headers: staff, json: { price: '2.75' } };
    assert.equal((await service.call('PATCH', '/v1/staff/dishes/WATER/', change)).status, 200);
    const changed = await read({ 'if-none-match': oldTag });
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get('etag'), oldTag);
  });

  it('401, 403, 404, 400: an invalid request for the menu is refused and gets no 304, even if If-None-Match is an asterisk', async () => {
    const { partner } = await service.tenant({ features: ['hotel'] });
    const statuses = await Promise.all([
      service.call('GET', MENU, { headers: { 'if-none-match': '*' } }),
      service.call('GET', MENU, { headers: { ...partner, 'if-none-match': '*' } }),
      get('*', `${MENU}?page=99`),
      get('*', `${MENU}?page=0`),
      get('*', `${MENU}?tenant_id=1`),
    ]);
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [401, 403, 404, 400, 400],
    );
  });

  it('200: If-None-Match has no effect on a list of orders, which has no ETag', async () => {
    const answer = await get('*', '/v1/third-party/orders/');
    assert.deepEqual([answer.status, answer.body, answer.headers.get('etag')], [200, [], null]);
  });
});
