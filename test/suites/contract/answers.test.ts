import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertDocumented } from '../../support/openapi-documents.ts';

const ORDER = '/v1/third-party/orders/A%201/';
const BUDGET = { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '299', 'x-ratelimit-reset': '60' };
const ORDINARY = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'a', ...BUDGET };
const FOUND = { success: true, order_id: '1', external_order_id: 'A 1', status: 'pending' };

function check(
  status: number,
  body: unknown,
  headers: Record<string, string> = ORDINARY,
  method = 'GET',
  path = ORDER,
) {
  const text = body === null ? '' : JSON.stringify(body);
  assertDocumented(method, path, { status, headers: new Headers(headers), text, body });
}

describe('assertDocumented', () => {
  it('assertDocumented accepts responses that match the OpenAPI documents', () => {
    check(200, FOUND);
    check(404, { code: 'order_not_found', message: 'No.' });
    check(200, null, ORDINARY, 'HEAD');
    check(304, null, { ...ORDINARY, etag: '"a"' }, 'GET', '/v1/third-party/menu');
    check(503, { message: 'No.', request_id: 'a' }, { ...ORDINARY, 'retry-after': '2' });
  });

  it('assertDocumented refuses an undocumented status, field, type, value or error code, and a missing required field', () => {
    for (const [status, body, fault] of [
      [409, { code: 'room_not_available', message: 'No.' }, /409 is in no OpenAPI document/],
      [200, { ...FOUND, total: '1.00' }, /additional properties/],
      [200, { ...FOUND, order_id: 1 }, /order_id must be string/],
      [200, { ...FOUND, status: 'lost' }, /status must be equal to one of/],
      [200, { success: true }, /required property/],
      [404, { code: 'error', message: 'No.' }, /code must be equal to one of/],
      [404, { code: 'order_not_found', message: 'No.', details: [] }, /additional properties/],
    ] as const) {
      assert.throws(() => check(status, body), fault);
    }
  });

  it('assertDocumented refuses a missing header, a wrong content type, and a body in the response to HEAD', () => {
    assert.throws(
      () => check(200, FOUND, { ...BUDGET, 'content-type': 'application/json' }),
      /without its header X-Request-Id/,
    );
    assert.throws(
      () => check(200, FOUND, { ...ORDINARY, 'content-type': 'text/html' }),
      /has the undocumented content type "text\/html"/,
    );
    assert.throws(() => check(200, FOUND, ORDINARY, 'HEAD'), /comes with a body/);
    assert.throws(() => check(503, { message: 'No.', request_id: 'a' }), /without its header Retry-After/);
  });

  it('assertDocumented accepts any response to an unknown path, and any response with status 405, 431 or 500', () => {
    check(404, { any: 'thing' }, {}, 'GET', '/no/such/path');
    check(405, { any: 'thing' }, {}, 'DELETE');
    check(431, { any: 'thing' }, {});
    check(500, { any: 'thing' }, {});
  });
});
