import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useService } from '#test/support/shared-service.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { placeOrder } from '#test/support/webhooks.ts';

const service = await useService();
const { partner } = await service.tenant();

const get = (path: string) => service.call('GET', path, { headers: partner });

describe('the path of a request', () => {
  it('200: several slashes in a row count as one slash in every path, but not in an id or a query; 405: an empty id is no id', async () => {
    for (const path of ['//v1/third-party/menu/', '/v1//third-party///menu//', '/v1/third-party//menu', '//livez']) {
      const answer = await get(path);
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    }
    for (const [path, status] of [
      ['//v1//third-party/orders/a%2F%2Fb/', 404],
      ['//v1/third-party/events/?after=a//b', 400],
      ['//v1/third-party//orders/%Z/', 400],
      ['//v1//unknown/', 404],
    ] as const) {
      assert.equal((await get(path)).status, status, path);
    }
    const cancel = await service.call('POST', '/v1/third-party/orders//cancel/', { headers: partner });
    assert.deepEqual([cancel.status, cancel.headers.get('allow')], [405, 'GET, HEAD']);
  });

  it('404: an order id of 5,000 characters is unknown, and the response does not repeat it', async () => {
    for (const id of ['a'.repeat(5_000), '🍕'.repeat(1_000)]) {
      const { status, body, text } = await get(orderPath(id));
      assert.deepEqual([status, body.code], [404, 'order_not_found']);
      assert.ok(text.length < 200, text);
    }
  });

  it('404: a path with additional segments, other letter case or encoded separators is unknown', async () => {
    const message = 'This path does not exist. /docs/ lists the paths that exist.';
    for (const path of [
      '/v1/third-party/orders/a/b/',
      '/V1/third-party/orders/',
      '/v1/third-party/orders/a/Cancel/',
      '/livez%2F',
      '/livez%3F',
      '/livez;a=1',
    ]) {
      const answer = await get(path);
      assert.deepEqual([answer.status, answer.body], [404, { code: 'error', message }], path);
    }
  });

  it('201, 200: an order id with special characters is accepted, and the order is found by its percent-encoded id', async () => {
    const found = ['a/b', 'a//b', '/', 'a?b', 'a#b', 'a%b', '%2F', '%ZZ', 'a..b', 'a b', 'a+b', ':id', '*', ';', '☃'];
    for (const id of [...found, '🍕'.repeat(150)]) {
      await placeOrder(service, partner, id);
      const encoded = [...Buffer.from(id)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      for (const path of [encoded, encoded.toUpperCase()]) {
        assert.equal((await get(`/v1/third-party/orders/${path}/`)).body.external_order_id, id);
      }
    }
  });
});
