import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { makeChannel, sendReservation } from '#test/support/channel.ts';
import { type CommitProxy, startCommitProxy } from '#test/support/lost-commit.ts';
import { rotate, storedSecret } from '#test/support/rotation.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { eventually, register } from '#test/support/webhooks.ts';
import { webhookSecretLocation, webhookSecrets } from '#access/credentials/credentials.ts';
import type { Database } from '../db/database.ts';
import { openKeyring } from './keys.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

const isCluster = await isTestCluster();

let service: TestService;
let tenant: TestTenant;
let db: Database;
beforeEach(async () => {
  service = await startService();
  tenant = await service.tenant({ features: ['restaurant', 'hotel'] });
  db = service.database.db;
});
afterEach(() => service.close());

const at = (name: string) => `https://127.0.0.1:2/${name}`;

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

  it('if the response to the COMMIT of a new encryption key is lost, the key rotation continues with this key and adds no second key', async () => {
    await register(service, tenant.partner, at('one'));
    const keyring = await openKeyring(loser.db, service.masterKey);
    loser.dropNextCommitResponse();
    assert.deepEqual(await rotate(service, { db: loser.db, keyring }), {
      version: 2,
      reencrypted: 1,
      removed: [1],
      isResumed: false,
      unopened: [],
    });
    assert.equal(loser.lostCount, 1);
  });

  it('200: if the COMMIT response of a webhook registration is lost, and the secret is encrypted again before the service retries, the call still returns the stored secret', {
    skip: isCluster && 'the locks are on other nodes than the one that the test looks at',
  }, async () => {
    const { tenantId, credential } = tenant;
    const lock = (tx: Pick<Database, 'selectFrom'>) =>
      tx
        .selectFrom('credential')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where('id', '=', credential.id)
        .forUpdate()
        .executeTakeFirstOrThrow();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const first = db.transaction().execute(async (tx) => {
      await lock(tx);
      held();
      await released;
    });
    await isHeld;
    loser.dropNextCommitResponse();
    const registering = register(api, tenant.partner, at('one'));
    await waitingFor(1);
    // `register` registers a webhook URL. The service runs this registration twice, because the response to its first COMMIT is lost.
    // Between the two runs, this transaction encrypts the webhook secret again, as a rotation would.
    const between = db.transaction().execute(async (tx) => {
      const { webhook_secret } = await lock(tx);
      assert.ok(webhook_secret);
      const location = webhookSecretLocation(tenantId, credential.id);
      const ciphertext = await service.keyring.encrypt(
        tx,
        await service.keyring.decrypt(webhook_secret, location),
        location,
      );
      assert.ok(
        await webhookSecrets.replace(
          tx,
          tenantId,
          { id: credential.id, location, ciphertext: webhook_secret },
          ciphertext,
        ),
      );
    });
    await waitingFor(2);
    release();
    await Promise.all([first, between]);
    const secret = await registering;
    assert.equal(loser.lostCount, 1);
    assert.notEqual(secret, '');
    assert.equal(await storedSecret(service, tenant), secret);
  });

  it('201: if the response to the COMMIT of a new channel is lost, the channel is made only once, and its secret is valid', async () => {
    loser.dropNextCommitResponse();
    const channel = await makeChannel(api, tenant);
    assert.equal(loser.lostCount, 1);
    assert.equal((await sendReservation(service, channel, {})).status, 400);
    const list = await service.call('GET', '/v1/channel-manager/channels/', { headers: tenant.owner });
    assert.equal(list.body.length, 1);
  });

  async function waitingFor(count: number): Promise<void> {
    await eventually(async () => {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN
          (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
      `.execute(db);
      return rows[0]?.count === count;
    }, `${count} sessions that wait for a lock`);
  }
});
