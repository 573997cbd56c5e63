import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  type CredentialRef,
  deliveryRows,
  insertBacklog,
  insertCredentials,
  removeAllEvents,
} from '#test/support/events.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { register } from '#test/support/webhooks.ts';
import { createDatabase, type Database, type Db, type Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import type { DueCredential } from '../events/events.ts';
import { findDueQueues, recordAndClaim, type Wanted } from './store.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

const isCluster = await isTestCluster();

const URL = 'https://127.0.0.1:1/nobody';

describe('claims of due deliveries', () => {
  let service: TestService;
  let db: Database;
  let tenant: TestTenant;

  before(async () => {
    service = await startService();
    db = service.database.db;
  });
  after(() => service.close());
  beforeEach(async () => {
    tenant = await service.tenant();
    await register(service, tenant.partner, URL);
    await removeAllEvents(db);
  });

  const newLease = () => ({ id: newId(), seconds: 15, beginBeforeMs: Number.POSITIVE_INFINITY });
  const claim = async (on: Db, wanted: Wanted[]) => await recordAndClaim(on, [], wanted, newLease());
  const wantedOf = (count: number) => [{ tenantId: tenant.tenantId, credentialId: tenant.credential.id, count }];

  it('a claim takes the unlocked due delivery, and does not wait for due deliveries that another transaction has locked', {
    timeout: 5_000,
  }, async () => {
    await insertBacklog(db, tenant, 3);
    await inTransaction(db, async (tx) => {
      const held = await tx
        .selectFrom('delivery')
        .select('id')
        .where('tenant_id', '=', tenant.tenantId)
        .limit(2)
        .forUpdate()
        .execute();
      const { claimed } = await claim(db, wantedOf(3));
      assert.equal(claimed.length, 1);
      assert.ok(held.every(({ id }) => id !== claimed[0]?.eventId));
    });
  });

  it('a claim takes no more deliveries than wanted, counts an attempt of each, and goes to the URL that is registered when it is made', async () => {
    await insertBacklog(db, tenant, 6);
    await register(service, tenant.partner, `${URL}/else`);
    const { claimed } = await claim(db, wantedOf(4));
    assert.equal(claimed.length, 4);
    assert.ok(claimed.every(({ webhookUrl, attempt }) => webhookUrl === `${URL}/else` && attempt === 1));
    const rows = await deliveryRows(db, tenant.tenantId);
    assert.deepEqual(
      rows.map((row) => row.attempt_count).sort((a, b) => a - b),
      [0, 0, 1, 1, 1, 1],
    );
  });

  describe('if 50 of the 1,000 credentials of a tenant have 15,000 waiting deliveries', () => {
    const EACH = 4;

    /**
     * Claims deliveries of 50 credentials. Checks that PostgreSQL reads only the claimed events and their credentials, and reads them by an
     * index.
     */
    async function claimByIndex(credentials: CredentialRef[]): Promise<void> {
      const wanted = credentials.map(({ tenantId, credential }) => ({
        tenantId,
        credentialId: credential.id,
        count: EACH,
      }));
      await inTransaction(db, async (tx) => {
        // The counters that `scansOf` reads belong to a connection, not to a transaction. PostgreSQL resets them at most once a second, so
        // they may still include the reads of earlier transactions. The test subtracts these reads.
        const earlier = await scansOf(tx);
        const { claimed } = await claim(tx, wanted);
        assert.equal(claimed.length, 50 * EACH);
        const now = await scansOf(tx);
        assert.equal(now.whole - earlier.whole, 0);
        const rows = now.rows - earlier.rows;
        // A claim may read five rows for each delivery that it takes:
        // - the row of the delivery, by the index of due deliveries
        // - the same row again, by its key
        // - the event
        // - the credential
        // - one delivery that the previous claim has leased. The index lists these deliveries first, so this claim reads and skips them.
        //   Both claims take the same number of deliveries.
        assert.ok(rows <= 5 * 50 * EACH, `the claim has read ${rows} rows`);
      });
    }

    it('claims read few rows, and read each row by an index, before and after each ANALYZE', {
      skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
    }, async () => {
      const many = await insertCredentials(
        service,
        tenant.tenantId,
        Array.from({ length: 1_000 }, (_, index) => `${URL}/${index}`),
      );
      const credentials = many.slice(0, 50);
      await insertBacklog(db, credentials, 10);
      await removeAllEvents(db);
      await sql`VACUUM ANALYZE event, delivery, credential`.execute(db);
      await insertBacklog(db, credentials, 300);
      await claimByIndex(credentials);
      await sql`ANALYZE event, delivery, credential`.execute(db);
      await claimByIndex(credentials);
      await sql`UPDATE delivery SET status = 'delivered' WHERE attempt_count = 1 OR random() < 0.9`.execute(db);
      await sql`ANALYZE event, delivery, credential`.execute(db);
      await claimByIndex(credentials);
    });
  });

  it('if a connection first runs a claim on an empty event table, its later claims use the index after the table has grown', {
    skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
  }, async () => {
    // This test checks that claims are fast even if PostgreSQL first planned them for empty tables. So PostgreSQL must first record that
    // the tables are empty. For this, the test writes events and removes them, and then runs VACUUM ANALYZE.
    await insertBacklog(db, tenant, 1_000);
    await removeAllEvents(db);
    await sql`VACUUM ANALYZE event, delivery`.execute(db);
    const background = createDatabase({ url: service.database.url, poolSize: 1 });
    const wanted = [{ tenantId: tenant.tenantId, credentialId: tenant.credential.id, count: 4 }];
    const lookUp = async (tx: Tx) => {
      const queues = await findDueQueues(tx, null, 10);
      const { claimed } = await claim(tx, wanted);
      const sent = {
        ok: true,
        httpStatus: 204,
        durationMs: 1,
        error: null,
        phase: null,
        answer: null,
        timestampSeconds: 1,
      };
      const outcomes = claimed.map((delivery) => ({ delivery, sent, status: 'delivered' as const, retryInMs: 0 }));
      const { recorded } = await recordAndClaim(tx, outcomes, [], newLease());
      return [queues.length, claimed.length, recorded.size];
    };
    try {
      for (let times = 0; times < 10; times += 1) {
        assert.deepEqual(await inTransaction(background, lookUp), [0, 0, 0]);
      }
      await insertBacklog(db, tenant, 15_000);
      await sql`UPDATE event SET body = repeat('x', 1000)`.execute(db);
      await inTransaction(background, async (tx) => {
        const earlier = await scansOf(tx);
        assert.deepEqual(await lookUp(tx), [1, 4, 4]);
        assert.equal((await scansOf(tx)).whole - earlier.whole, 0);
      });
    } finally {
      await background.destroy();
    }
  });

  it('findDueQueues reads one row for each credential, even if the event table was empty at the last ANALYZE', {
    skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
  }, async () => {
    const { tenantId } = await service.tenant();
    await sql`
      INSERT INTO credential (tenant_id, id, audience, label, api_key, secret_hash, webhook_secret, webhook_url, created_at)
      SELECT ${tenantId}, gen_random_uuid(), audience, label, gen_random_uuid(), secret_hash, webhook_secret, webhook_url, created_at
      FROM credential CROSS JOIN generate_series(1, 3000) WHERE id = ${tenant.credential.id}`.execute(db);
    const fill = (each: number) =>
      sql`
        INSERT INTO delivery (tenant_id, id, credential_id, status) SELECT tenant_id, gen_random_uuid(), id, 'pending'
        FROM credential CROSS JOIN generate_series(1, ${each}::int) WHERE tenant_id = ${tenantId} AND webhook_url <> ''`.execute(
        db,
      );
    await fill(5);
    await sql`ANALYZE event, delivery`.execute(db);
    await removeAllEvents(db);
    await sql`ANALYZE event, delivery`.execute(db);
    await fill(1);
    const background = createDatabase({ url: service.database.url, poolSize: 1 });
    try {
      await inTransaction(background, async (tx) => {
        assert.equal((await findDueQueues(tx, null, 5_000)).length, 3_000);
        // The index has the rows in the right order. If PostgreSQL did not use it, it would read and sort all rows for each credential.
        const { rows } = await sql<{ read: number }>`
          SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'delivery'
        `.execute(tx);
        assert.ok((rows[0]?.read ?? Number.NaN) <= 3_000, `the scan has read ${rows[0]?.read} rows`);
      });
    } finally {
      await background.destroy();
    }
  });

  /** The counters belong to the connection, so they may include the reads of earlier transactions. */
  async function scansOf(tx: Tx) {
    const { rows } = await sql<{ whole: number; rows: number }>`
      SELECT coalesce(sum(seq_scan), 0)::int AS whole, coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int AS rows
      FROM pg_stat_xact_user_tables WHERE relname IN ('event', 'delivery', 'credential')
    `.execute(tx);
    const [counted] = rows;
    assert.ok(counted);
    return counted;
  }

  it('the pages of findDueQueues list each credential with due deliveries once, in the order of tenants', async () => {
    const all = [tenant, await service.tenant(), await service.tenant(), await service.tenant()];
    await insertBacklog(db, all, 2);
    const found: string[] = [];
    let last: DueCredential | null = null;
    for (let page = 0; page < 3; page += 1) {
      const queues: DueCredential[] = await findDueQueues(db, last, 2);
      found.push(...queues.map(({ credentialId }) => credentialId));
      last = queues.at(-1) ?? last;
    }
    assert.deepEqual(
      found,
      all.map(({ credential }) => credential.id),
    );
  });

  it('findDueQueues gives a revoked credential no URL, because its deliveries must be stopped', async () => {
    const revoked = await service.tenant();
    await register(service, revoked.partner, URL);
    await insertBacklog(db, [tenant, revoked], 1);
    await db.updateTable('credential').set({ is_active: false }).where('id', '=', revoked.credential.id).execute();
    const queues = await findDueQueues(db, null, 3);
    assert.deepEqual(
      queues.map(({ credentialId, webhookUrl }) => [credentialId, webhookUrl]),
      [
        [tenant.credential.id, URL],
        [revoked.credential.id, ''],
      ],
    );
  });
});
