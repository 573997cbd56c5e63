import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useService } from '#test/support/shared-service.ts';
import { placeOrder } from '#test/support/webhooks.ts';

const service = await useService();
const { partner } = await service.tenant();

describe('the path of a request', () => {
  const read = (encodedId: string) => service.call('GET', `/v1/third-party/orders/${encodedId}/`, { headers: partner });

  it('400: a path whose percent-encoding is broken or is not UTF-8 is refused', async () => {
    for (const id of [
      '%',
      '%Z',
      '%ZZ',
      'a%2',
      '%FF',
      '%C3',
      '%C3%28',
      '%ED%A0%80',
      '%ED%BF%BF',
      '%F4%90%80%80',
      '%C0%AF',
    ]) {
      const answer = await read(id);
      assert.deepEqual(
        answer.body,
        { code: 'invalid_request', message: 'path: is not valid percent-encoded UTF-8' },
        id,
      );
      assert.equal(answer.status, 400);
    }
  });

  it('400: a path with U+0000 is refused', async () => {
    for (const id of ['%00', 'a%00b', '%00%00', '%E2%82%AC%00']) {
      const answer = await read(id);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], id);
      assert.match(answer.body.message, /^external_order_id: /);
    }
  });

  it('200: several slashes in a row count as one slash in every path, but not in an id or a query; 405: an empty id is no id', async () => {
    for (const path of ['//v1/third-party/menu/', '/v1//third-party///menu//', '/v1/third-party//menu', '//livez']) {
      const answer = await service.call('GET', path, { headers: partner });
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    }
    const order = await service.call('GET', '//v1//third-party/orders/a%2F%2Fb/', { headers: partner });
    assert.deepEqual([order.status, order.body.code], [404, 'order_not_found']);
    const events = await service.call('GET', '//v1/third-party/events/?after=a//b', { headers: partner });
    assert.deepEqual([events.status, events.body.code], [400, 'invalid_request']);
    const broken = await service.call('GET', '//v1/third-party//orders/%Z/', { headers: partner });
    assert.deepEqual([broken.status, broken.body.code], [400, 'invalid_request']);
    const cancel = await service.call('POST', '/v1/third-party/orders//cancel/', { headers: partner });
    assert.deepEqual([cancel.status, cancel.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal((await service.call('GET', '//v1//unknown/', { headers: partner })).status, 404);
  });

  it('200: an order whose id has two slashes is found under its percent-encoded id', async () => {
    const { partner: other } = await service.tenant();
    await placeOrder(service, other, 'a//b');
    const found = await service.call('GET', '//v1/third-party/orders/a%2F%2Fb/', { headers: other });
    assert.deepEqual([found.status, found.body.external_order_id], [200, 'a//b']);
  });

  it('404: an order id of 151 or more characters in the path gets 404, because no order has such an id', async () => {
    for (const id of ['a'.repeat(151), 'a'.repeat(5_000), '%F0%9F%8D%95'.repeat(1_000)]) {
      const answer = await read(id);
      assert.equal(answer.status, 404, answer.text);
      assert.equal(answer.body.code, 'order_not_found');
      assert.ok(answer.text.length < 200, 'the response does not repeat the id');
    }
  });

  it('404: a path with additional segments, other letter case or encoded separators is unknown', async () => {
    for (const path of [
      '/v1/third-party/orders/a/b/',
      '/v1/third-party/orders/a/cancel/b/',
      '/V1/third-party/orders/',
      '/v1/third-party/orders/a/Cancel/',
      '/livez/x',
      '/livez%2F',
      '/livez%3F',
      '/livez;a=1',
    ]) {
      const answer = await service.call('GET', path, { headers: partner });
      assert.deepEqual(
        answer.body,
        { code: 'error', message: 'This path does not exist. /docs/ lists the paths that exist.' },
        path,
      );
      assert.equal(answer.status, 404);
    }
  });

  it('201, 200: an order id with special characters is accepted, and the order is found by its percent-encoded id', async () => {
    for (const id of [
      'a/b',
      '/',
      'a?b',
      'a#b',
      'a%b',
      '%2F',
      '%ZZ',
      '..',
      '.',
      'a..b',
      'a b',
      'a+b',
      ':id',
      '*',
      ';',
      '☃',
      '🍕'.repeat(150),
    ]) {
      const json = { external_order_id: id, items: [{ item_id: 'WATER', quantity: 1 }] };
      const placed = await service.call('POST', '/v1/third-party/orders/', { headers: partner, json });
      assert.equal(placed.status, 201, placed.text);
      const encoded = [...Buffer.from(id)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      // Skips the ids `.` and `..`. The test client cannot request them, because its URL parser removes a path segment `.` or `..`, also if
      // it is encoded as `%2e`.
      if (!/^\.{1,2}$/.test(id)) {
        assert.deepEqual((await read(encoded)).body, placed.body, id);
        assert.deepEqual((await read(encoded.toUpperCase())).body, placed.body, id);
      }
    }
  });
});
