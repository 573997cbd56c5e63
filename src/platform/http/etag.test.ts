import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useRestaurant } from '#test/support/shared-service.ts';

const MENU = '/v1/third-party/menu/';

const { service, tenant } = await useRestaurant();

describe('GET menu with If-None-Match', () => {
  const get = (ifNoneMatch?: string, path = MENU, method = 'GET', { partner } = tenant) =>
    service.call(method, path, {
      headers: { ...partner, ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }) },
    });
  const tagOf = async (of = tenant) => (await get(undefined, MENU, 'GET', of)).headers.get('etag') ?? '';

  it('304: the menu is not sent if If-None-Match is its strong ETag, its weak ETag, a list that contains its ETag, or an asterisk', async () => {
    const etag = await tagOf();
    assert.match(etag, /^"[\w-]{27}"$/);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, `"a",W/${etag},"b"`, ` ${etag} `, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await get(header, MENU, method);
        assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [304, '', etag], header);
        assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
        assert.ok(answer.headers.has('x-request-id') && answer.headers.has('x-ratelimit-remaining'));
      }
    }
  });

  it('200: the menu is sent if If-None-Match is not its ETag or is malformed', async () => {
    const etag = await tagOf();
    for (const header of ['"other"', etag.slice(1, -1), `"${etag}"`, etag.toLowerCase(), `w/${etag}`, '"*"', ',', '']) {
      assert.equal((await get(header)).status, 200, header);
    }
  });

  it('200: if the menu has changed, If-None-Match with the old ETag gets the menu with a new ETag', async () => {
    const other = await service.tenant();
    const oldTag = await tagOf(other);
    const change = { headers: other.staff, json: { price: '2.75' } };
    assert.equal((await service.call('PATCH', '/v1/staff/dishes/WATER/', change)).status, 200);
    const changed = await get(oldTag, MENU, 'GET', other);
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get('etag'), oldTag);
  });

  it('401, 403, 404, 400: an invalid request for the menu is refused and gets no 304, even if If-None-Match is an asterisk', async () => {
    const answers = await Promise.all([
      get('*', MENU, 'GET', { ...tenant, partner: {} }),
      get('*', MENU, 'GET', await service.tenant({ features: ['hotel'] })),
      get('*', `${MENU}?page=99`),
      get('*', `${MENU}?page=0`),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 403, 404, 400],
    );
  });

  it('200: If-None-Match has no effect on a list of orders, which has no ETag', async () => {
    const answer = await get('*', '/v1/third-party/orders/');
    assert.deepEqual([answer.status, answer.body, answer.headers.get('etag')], [200, [], null]);
  });
});
