import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { makeChannel, sendReservation } from '#test/support/channel.ts';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';
import { register } from '#test/support/webhooks.ts';
import { webhookSecretLocation } from './credentials.ts';

const { service, tenant } = await useRestaurant({ features: ['restaurant', 'hotel'] });

describe('after a lost response to a COMMIT', () => {
  let loser: CommitProxy;
  let api: TestService;
  beforeEach(async () => {
    loser = await startCommitProxy(service.database.url);
    api = await startService({ beside: { ...service, database: { ...service.database, db: loser.db } } });
  });
  afterEach(async () => {
    await api.close();
    await loser.close();
  });

  it('200: if the COMMIT response of a webhook registration is lost, the call returns the stored secret', async () => {
    loser.dropNextCommitResponse();
    const secret = await register(api, tenant.partner, 'https://127.0.0.1:2/one');
    assert.equal(loser.lostCount, 1);
    const { webhook_secret } = await service.database.db
      .selectFrom('credential')
      .select('webhook_secret')
      .where('tenant_id', '=', tenant.tenantId)
      .where('id', '=', tenant.credential.id)
      .executeTakeFirstOrThrow();
    assert.ok(webhook_secret);
    const location = webhookSecretLocation(tenant.tenantId, tenant.credential.id);
    assert.equal(service.keyring.decrypt(webhook_secret, location), secret);
  });

  it('201: if the response to the COMMIT of a new channel is lost, the channel is made only once, and its secret is valid', async () => {
    loser.dropNextCommitResponse();
    const channel = await makeChannel(api, tenant);
    assert.equal(loser.lostCount, 1);
    assert.equal((await sendReservation(service, channel, {})).status, 400);
    const list = await service.call('GET', '/v1/channel-manager/channels/', { headers: tenant.owner });
    assert.equal(list.body.length, 1);
  });
});
