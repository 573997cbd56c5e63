import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sql } from 'kysely';
import { createDatabase, type Database, type Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { withoutTimeLimit } from '#test/support/plans.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { countByHour } from './store.ts';

const LIMIT = 1_000;
const OLD_EVENTS = 20_000;

let service: TestService;
let tenant: TestTenant;
let db: Database;
before(async () => {
  service = await startService();
  tenant = await service.tenant();
  db = createDatabase({ url: service.database.url, poolSize: 1 });
});
after(async () => {
  await db.destroy();
  await service.close();
});

/** Inserts delivered events of a credential, one for each second before now. The older half of the events have positions in the feed. */
async function insertEvents(filling: Database, credentialId: string, count: number): Promise<void> {
  await sql`
    WITH made AS (
      SELECT n, (lpad(to_hex(${Date.now()}::bigint - n * 1000::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' ||
        substr(md5(random()::text), 1, 15))::uuid AS id
      FROM generate_series(1, ${count}::int) AS n
    ), events AS (
      INSERT INTO event (tenant_id, id, credential_id, type, body, subject, created_at, feed_position)
      SELECT ${tenant.tenantId}::bigint, id, ${credentialId}::uuid, 'order.status_changed', repeat('x', 200), '{}', now(),
        CASE WHEN n > ${count}::int / 2 THEN ${count}::int - n + 1 END
      FROM made
    )
    INSERT INTO delivery (tenant_id, id, credential_id, status) SELECT ${tenant.tenantId}::bigint, id, ${credentialId}::uuid, 'delivered' FROM made
  `.execute(filling);
}

interface Reads {
  rows: number;
  whole: number;
}

/** Returns how many rows of events and deliveries this connection has read, and how often it has read a whole table. */
async function readsOf(tx: Tx): Promise<Reads> {
  const { rows } = await sql<Reads>`
    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int AS rows, coalesce(sum(seq_scan), 0)::int AS whole
    FROM pg_stat_xact_user_tables WHERE relname IN ('event', 'delivery')`.execute(tx);
  return rows[0] ?? assert.fail();
}

/**
 * Runs `countByHour` in its own transaction. Returns the number of events that it counts, the number of rows that it reads, and the number
 * of whole tables that it reads.
 */
async function costOf(credentialId: string): Promise<Reads & { events: number }> {
  return await inTransaction(db, async (tx) => {
    const earlier = await readsOf(tx);
    const fromId = firstIdAt(Date.now() - 86_400_000);
    const hours = await countByHour(tx, tenant.tenantId, { credentialId, fromId, limit: LIMIT });
    const { rows, whole } = await readsOf(tx);
    const events = hours.reduce((sum, hour) => sum + hour.events, 0);
    return { events, rows: rows - earlier.rows, whole: whole - earlier.whole };
  });
}

it('countByHour (events of the last 24 hours) reads only the newest events and their deliveries, by an index, with any table statistics', {
  skip: (await isTestCluster()) && 'the statistics of a cluster do not count the rows that its nodes read',
}, async () => {
  const { credential: other } = await service.credential(tenant.tenantId);
  await sql`ANALYZE event, delivery`.execute(db);
  await withoutTimeLimit(service.database.url, async (filling) => {
    await insertEvents(filling, tenant.credential.id, OLD_EVENTS);
    await insertEvents(filling, other.id, 10);
  });
  const assertCheap = async () => {
    const { events, rows, whole } = await costOf(tenant.credential.id);
    assert.deepEqual([events, whole], [LIMIT, 0]);
    assert.ok(rows <= 2 * LIMIT, `${rows} rows were read`);
    const few = await costOf(other.id);
    assert.deepEqual([few.events, few.whole], [10, 0]);
    assert.ok(few.rows <= 20, `${few.rows} rows were read`);
  };
  await assertCheap();
  await sql`ANALYZE event, delivery`.execute(db);
  await assertCheap();
  await sql`VACUUM event, delivery`.execute(db);
  await assertCheap();
});
