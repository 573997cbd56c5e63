import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startService, type TestService } from '#test/support/service.ts';

describe('the path of a request', () => {
  let service: TestService;
  let partner: Record<string, string>;
  before(async () => {
    service = await startService();
    ({ partner } = await service.tenant());
  });
  after(() => service.close());

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

  it('400: a path with an empty id is refused', async () => {
    const answer = await service.call('POST', '/v1/third-party/orders//cancel/', { headers: partner });
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request']);
  });

  it('404: an order id of 151 or more characters in the path gets 404, because no order has such an id', async () => {
    for (const id of ['a'.repeat(151), 'a'.repeat(5_000), '%F0%9F%8D%95'.repeat(1_000)]) {
      const answer = await read(id);
      assert.equal(answer.status, 404, answer.text);
      assert.equal(answer.body.code, 'order_not_found');
      assert.ok(answer.text.length < 200, 'the response does not repeat the id');
    }
  });

  it('404: a path with additional or empty segments, other letter case or encoded separators is unknown', async () => {
    for (const path of [
      '/v1/third-party/orders/a/b/',
      '/v1/third-party/orders/a/cancel/b/',
      '/v1/third-party//orders/',
      '//v1/third-party/orders/',
      '/V1/third-party/orders/',
      '/v1/third-party/orders/a/Cancel/',
      '/livez/x',
      '/livez//',
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
