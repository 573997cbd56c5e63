import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startService, type TestService, type TestTenant } from '../../test/support/service.ts';

describe('POST /v1/third-party/orders/', () => {
  let service: TestService;
  let tenant: TestTenant;
  before(async () => {
    service = await startService();
    tenant = await service.tenant();
  });
  after(() => service.close());

  it('201: places an order', async () => {
    const answer = await service.call('POST', '/v1/third-party/orders/', {
      headers: tenant.partner,
      json: { external_order_id: 'A-1', items: [{ item_id: 'PIZZA-1', quantity: 2 }] },
    });
    assert.equal(answer.status, 201, answer.text);
  });
});
