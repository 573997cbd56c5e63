import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type CommitLoser, startCommitLoser } from '#test/support/lost-commit.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { isSignedWith, moveOrder, onlyDelivery, placeOrder, register } from '#test/support/webhooks.ts';

/** The work is done again, for nobody knows that it is done; the caller must not notice. */
describe('where the answer to a COMMIT is lost', () => {
  let service: TestService;
  let api: TestService;
  let loser: CommitLoser;
  let receiver: Receiver;
  let tenant: TestTenant;
  let lostBefore: number;

  before(async () => {
    service = await startService({ worker: true });
    loser = await startCommitLoser(service.database.url);
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

  it('200: a registration still tells its secret, and no other one signs', async () => {
    loser.loseNext();
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

  it('200: a change of status is one change with one event, and is not refused as a second one', async () => {
    await register(api, tenant.partner, receiver.url);
    const { orderId, externalId } = await placeOrder(api, tenant.partner);
    loser.loseNext();
    await moveOrder(api, tenant, orderId, 'confirmed');
    assert.equal(loser.lostCount, lostBefore + 1);
    await onlyDelivery(service, tenant, 'delivered');
    assert.equal(receiver.requests.filter(({ rawBody }) => rawBody.includes(externalId)).length, 1);
  });

  it('200: also if the COMMIT is still under way when the work is tried again', async () => {
    await register(api, tenant.partner, receiver.url);
    const { orderId, externalId } = await placeOrder(api, tenant.partner);
    loser.loseNext(500);
    await moveOrder(api, tenant, orderId, 'confirmed');
    assert.equal(loser.lostCount, lostBefore + 1);
    await onlyDelivery(service, tenant, 'delivered');
    assert.equal(receiver.requests.filter(({ rawBody }) => rawBody.includes(externalId)).length, 1);
  });
});
