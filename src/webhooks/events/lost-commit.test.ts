import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, isSignedWith, moveOrder, onlyDelivery, placeOrder, register } from '#test/support/webhooks.ts';

/**
 * If the response to a COMMIT is lost, the service does not know if the transaction was committed. So the service checks the database, or
 * runs the transaction again. The caller must not notice that the response was lost.
 */
describe('calls for which the response to a COMMIT is lost', () => {
  let service: TestService;
  let api: TestService;
  let loser: CommitProxy;
  let receiver: Receiver;
  let tenant: TestTenant;
  let lostBefore: number;

  before(async () => {
    service = await startService({ worker: true });
    loser = await startCommitProxy(service.database.url);
    api = await startService({ beside: { ...service, database: { ...service.database, db: loser.db } } });
    receiver = await startReceiver();
  });
  after(async () => {
    await api.close();
    await loser.close();
    await service.close();
    await receiver.close();
  });
  beforeEach(async () => {
    tenant = await service.tenant();
    lostBefore = loser.lostCount;
  });

  it('200: a webhook registration returns the right signing secret even if the response to its COMMIT is lost', async () => {
    loser.dropNextCommitResponse();
    const secret = await register(api, tenant.partner, receiver.url);
    assert.equal(loser.lostCount, lostBefore + 1);
    assert.notEqual(secret, '');
    assert.equal(await register(api, tenant.partner, receiver.url), '');
    const { orderId, externalId } = await placeOrder(api, tenant.partner);
    await moveOrder(api, tenant, orderId, 'confirmed');
    await onlyDelivery(service, tenant, 'delivered');
    const request = receiver.requests.find(({ rawBody }) => rawBody.includes(externalId));
    assert.ok(request && isSignedWith(secret, request));
  });

  it('200: a status change of an order succeeds and sends one event if the response to its COMMIT is lost', async () => {
    await register(api, tenant.partner, receiver.url);
    const { orderId, externalId } = await placeOrder(api, tenant.partner);
    loser.dropNextCommitResponse();
    await moveOrder(api, tenant, orderId, 'confirmed');
    assert.equal(loser.lostCount, lostBefore + 1);
    await onlyDelivery(service, tenant, 'delivered');
    assert.equal(receiver.requests.filter(({ rawBody }) => rawBody.includes(externalId)).length, 1);
  });

  it("200: if the service loses its database connection, and the COMMIT of an order's status change arrives 500 ms later, the receiver gets only one event", async () => {
    await register(api, tenant.partner, receiver.url);
    const { orderId, externalId } = await placeOrder(api, tenant.partner);
    loser.dropNextCommitResponse(500);
    await moveOrder(api, tenant, orderId, 'confirmed');
    // PostgreSQL first releases the locks of the transaction, and then responds to its COMMIT. So the service may respond earlier than the
    // proxy gets this response.
    await eventually(() => loser.lostCount > lostBefore, 'lost response to the COMMIT');
    assert.equal(loser.lostCount, lostBefore + 1);
    await onlyDelivery(service, tenant, 'delivered');
    assert.equal(receiver.requests.filter(({ rawBody }) => rawBody.includes(externalId)).length, 1);
  });
});
