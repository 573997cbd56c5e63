import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Answer, CallOptions } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';

const ORDERS = '/v1/third-party/orders/';

const service = await useService();
/** A second instance of the service, which allows each credential only one request a minute. */
const narrow = await startService({ beside: service, config: { rateLimitPerMinute: 1 } });
const { partner } = await service.tenant();
const { partner: hotelPartner } = await service.tenant({ features: ['hotel'] });

/**
 * Tests the order of checks in rule 1. Most requests break the rules of several checks. The response reports only the first check that
 * fails, so it shows the order of the checks.
 */
describe('the order of checks', () => {
  after(() => narrow.close());

  function refuses([status, code]: [number, string], answer: Answer): void {
    assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text);
    assert.deepEqual(Object.keys(answer.body), ['code', 'message']);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  }

  const badBody: CallOptions = { headers: { 'content-type': 'application/json' }, body: '{' };
  const badPath = '/v1/third-party/orders/%ZZ/cancel/?a=%ZZ&tenant_id=1';
  const by = (credentials: Record<string, string>, options = badBody): CallOptions => ({
    ...options,
    headers: { ...options.headers, ...credentials },
  });

  it('404: an unknown path is refused before the method, the query and the body are checked', async () => {
    for (const path of ['/nope', '/v1/third-party', '/v1/third-party/%ZZ', '/%00']) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const options = method === 'GET' ? {} : badBody;
        refuses([404, 'error'], await service.call(method, `${path}?a=%ZZ&tenant_id=1&a=2`, options));
      }
    }
    const tooLarge = { body: Buffer.alloc(2 * 1024 * 1024), headers: { 'content-type': 'text/plain' } };
    refuses([404, 'error'], await service.call('POST', '/nope', tooLarge));
  });

  it('405: a wrong method is refused before credentials, path, query and body are checked', async () => {
    const answer = await service.call('DELETE', badPath, badBody);
    refuses([405, 'error'], answer);
    assert.equal(answer.headers.get('allow'), 'POST');
    refuses([405, 'error'], await service.call('PUT', `${ORDERS}?a=%ZZ`, { body: Buffer.alloc(2 * 1024 * 1024) }));
  });

  it('401: bad credentials are refused before the call counts against a budget and before path, query and body are checked', async () => {
    for (const credentials of [
      {},
      { 'x-api-key': partner['x-api-key'] ?? '' },
      { ...hotelPartner, 'x-api-secret': 'wrong' },
    ]) {
      const answer = await narrow.call('POST', badPath, by(credentials));
      refuses([401, 'invalid_credentials'], answer);
      assert.ok(answer.headers.has('www-authenticate'));
      assert.ok(!answer.headers.has('x-ratelimit-limit'), 'the call took nothing from a budget');
    }
    const tooLarge = { body: Buffer.alloc(2 * 1024 * 1024) };
    refuses([401, 'invalid_credentials'], await service.call('POST', ORDERS, tooLarge));
  });

  it('429: a call over the budget is refused before the check for the restaurant feature, and before the checks of path, query and body', async () => {
    refuses([403, 'error'], await narrow.call('POST', badPath, by(hotelPartner)));
    refuses([429, 'rate_limited'], await narrow.call('POST', badPath, by(hotelPartner)));
  });

  it('403: a call to a feature that the tenant does not have is refused before path, query and body are checked', async () => {
    refuses([403, 'error'], await service.call('POST', badPath, by(hotelPartner)));
    refuses([403, 'error'], await service.call('POST', ORDERS, by(hotelPartner, { body: 'x' })));
  });

  it('400, 413, 415: a bad path, query or body is refused before the service looks for the order or the items', async () => {
    const refused = async (expected: [number, string], path: string, options: CallOptions) =>
      refuses(expected, await service.call('POST', path, by(partner, options)));
    await refused([400, 'invalid_request'], badPath, { body: '' });
    await refused([400, 'invalid_request'], '/v1/third-party/orders/%00/cancel/', {});
    await refused([400, 'invalid_request'], '/v1/third-party/orders/none/cancel/?a=%ZZ', {});
    await refused([404, 'order_not_found'], '/v1/third-party/orders/none/cancel/', badBody);
    await refused([400, 'invalid_request'], ORDERS, badBody);
    await refused([413, 'error'], ORDERS, { body: Buffer.alloc(1024 * 1024 + 1) });
    await refused([415, 'error'], ORDERS, { body: 'x', headers: { 'content-type': 'text/plain' } });
    const unknownItem = { external_order_id: 'A', items: [{ item_id: 'none', quantity: 0 }] };
    await refused([400, 'invalid_request'], ORDERS, { json: unknownItem });
  });

  it('401, 403, 400: an operation for owners checks the credentials first, then the role, and then path and query', async () => {
    const tenant = await service.tenant();
    const path = '/v1/third-party/credentials/%ZZ/revoke/?a=%ZZ&tenant_id=1';
    refuses([401, 'invalid_credentials'], await service.call('POST', path, badBody));
    refuses([403, 'error'], await service.call('POST', path, by(tenant.staff)));
    refuses([400, 'invalid_request'], await service.call('POST', path, by(tenant.owner)));
  });
});
