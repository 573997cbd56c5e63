import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { type KeysetList, readKeysetPage } from '#platform/db/keyset-list.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { fillWithoutIndexes, openPlanned, type PlannedDatabase, withoutTimeLimit } from '#test/support/plans.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { type EventFilter, listEvents } from '../events/store.ts';
import { type DeliveryFilter, findDelivery, listDeliveries } from './store.ts';

/** Number of events of the large tenant. The events are spread over 30 days. */
const MANY = 60_000;
const FEW = 20;
const PAGE = 50;
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
/**
 * Maximum number of database pages that a statement reads for one page of a list. A delivery takes a few database pages: its row, its
 * event, its credential and their indexes.
 */
const MOST_PAGES = 2_500;

const isCluster = await isTestCluster();

describe('query plans of the lists of deliveries and of events', {
  skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let planned: PlannedDatabase;
  let large: TestTenant;
  let small: TestTenant;
  /** Id of the credential to which only one in 1,000 events of the large tenant belongs. */
  let rare: string;
  before(async () => {
    service = await startService();
    planned = openPlanned(service.database.url, ['event', 'delivery'], MOST_PAGES);
    [large, small] = [await service.tenant(), await service.tenant()];
    rare = (await service.credential(large.tenantId)).credential.id;
    await withoutTimeLimit(service.database.url, async (db) => {
      await fillWithoutIndexes(db, ['event', 'delivery'], async () => {
        await insert(db, large, rare, MANY);
        await insert(db, small, small.credential.id, FEW);
      });
      await sql`VACUUM ANALYZE event, delivery, credential`.execute(db);
    });
  });
  after(async () => {
    await planned.db.destroy();
    await service.close();
  });

  /**
   * Inserts events with their deliveries. One event in 1,000 belongs to the credential `second`. One event in 500 is the booking of a stay.
   * Only the eleven oldest events are cancellations. One delivery in 300 has failed.
   */
  async function insert(
    db: Database,
    { tenantId, credential }: TestTenant,
    second: string,
    count: number,
  ): Promise<void> {
    await sql`
      WITH made AS MATERIALIZED (
        SELECT n, (lpad(to_hex(ms), 12, '0') || '7' || left(md5(n::text), 3) || 'a' || right(md5(n::text), 15))::uuid AS id,
          to_timestamp(ms / 1000.0) AS at,
          CASE WHEN n % 1000 = 0 THEN ${second}::uuid ELSE ${credential.id}::uuid END AS credential_id
        FROM (
          SELECT n, ${NOW_MS}::bigint - (30 * ${DAY_MS}::bigint / ${count}::bigint) * (${count}::bigint - n) AS ms
          FROM generate_series(1, ${count}::bigint) AS n
        ) AS numbered
      ), written AS (
        INSERT INTO event (tenant_id, id, credential_id, type, body, subject, created_at)
        SELECT ${tenantId}::bigint, id, credential_id, CASE WHEN n < 12 THEN 'reservation.cancelled'
          WHEN n % 500 = 0 THEN 'reservation.created' ELSE 'order.status_changed' END, '{}',
          json_build_object('type', 'order', 'id', id, 'external_id', 'N-1'), at
        FROM made
      )
      INSERT INTO delivery (tenant_id, id, credential_id, status, next_attempt_at)
      SELECT ${tenantId}::bigint, id, credential_id, CASE WHEN n % 300 = 0 THEN 'failed' ELSE 'delivered' END, at FROM made
    `.execute(db);
  }

  /**
   * Asserts that all statements of `work` read the tables only through indexes, for the small and for the large tenant. `uses` names the
   * indexes that the plans for the large tenant must use.
   */
  async function assertPlans(work: (of: TestTenant) => Promise<unknown>, uses: string[] = []): Promise<void> {
    await planned.indexesOf(() => work(small));
    const used = await planned.indexesOf(() => work(large));
    assert.ok(
      uses.every((index) => used.has(index)),
      `uses ${[...used].join()}`,
    );
  }

  async function readPages(list: KeysetList<unknown>): Promise<void> {
    await readKeysetPage(planned.db, list, { after: null, limit: PAGE });
    await readKeysetPage(planned.db, list, { after: [firstIdAt(atDay(20))], limit: PAGE });
  }

  const atDay = (days: number) => NOW_MS - days * DAY_MS;
  const day = { createdFromMs: atDay(3), createdToMs: atDay(2) };

  const DELIVERIES: Record<string, { filter: (of: TestTenant) => DeliveryFilter; uses?: string[] }> = {
    'no filter': { filter: () => ({}), uses: ['delivery_pkey'] },
    'a frequent status': { filter: () => ({ status: 'delivered' }) },
    'a rare status': { filter: () => ({ status: 'failed' }) },
    'a status without deliveries': { filter: () => ({ status: 'stopped' }), uses: ['delivery_undelivered'] },
    'a frequent credential': { filter: ({ credential }) => ({ credential_id: credential.id }) },
    'a rare credential': { filter: () => ({ credential_id: rare }), uses: ['event_in_feed'] },
    'an unknown credential': { filter: () => ({ credential_id: firstIdAt(0) }), uses: ['event_in_feed'] },
    'failed deliveries of a credential': { filter: () => ({ credential_id: rare, status: 'failed' }) },
    'a frequent event': { filter: () => ({ event: 'order.status_changed' }) },
    'a rare event': { filter: () => ({ event: 'reservation.created' }), uses: ['event_by_type'] },
    'an event that is long past': { filter: () => ({ event: 'reservation.cancelled' }), uses: ['event_by_type'] },
    'an event that never happened': { filter: () => ({ event: 'reservation.modified' }), uses: ['event_by_type'] },
    'an event of a credential': { filter: () => ({ event: 'order.status_changed', credential_id: rare }) },
    ids: { filter: () => ({ ids: [firstIdAt(1), firstIdAt(2)] }), uses: ['delivery_pkey'] },
    'a day': { filter: () => day, uses: ['delivery_pkey'] },
    'failed deliveries of a day': { filter: () => ({ status: 'failed', ...day }) },
  };
  for (const [what, { filter, uses }] of Object.entries(DELIVERIES)) {
    it(`with the filter "${what}", the queries of the delivery list use indexes, both in query plans for the filter values and in generic query plans`, async () => {
      await assertPlans((of) => readPages(listDeliveries(of.tenantId, filter(of))), uses);
    });
  }

  it('the statement that reads one delivery uses the primary keys of deliveries and events', async () => {
    await assertPlans((of) => findDelivery(planned.db, of.tenantId, firstIdAt(0)), ['delivery_pkey', 'event_pkey']);
  });

  const EVENTS: Record<string, { filter: (of: TestTenant) => EventFilter; uses?: string[] }> = {
    'no filter': { filter: () => ({}), uses: ['event_pkey'] },
    'a rare credential': { filter: () => ({ credential_id: rare }), uses: ['event_in_feed'] },
    'a frequent credential and a rare event': {
      filter: ({ credential }) => ({ credential_id: credential.id, type: 'reservation.cancelled' }),
      uses: ['event_by_type'],
    },
    'a rare event that is long past': { filter: () => ({ type: 'reservation.cancelled' }), uses: ['event_by_type'] },
    'a frequent event': { filter: () => ({ type: 'order.status_changed' }), uses: ['event_pkey'] },
    'an event that never happened': { filter: () => ({ type: 'reservation.modified' }), uses: ['event_by_type'] },
    'ids of an event of a credential': {
      filter: () => ({ ids: [firstIdAt(1)], credential_id: rare, type: 'order.status_changed' }),
    },
  };
  for (const [what, { filter, uses }] of Object.entries(EVENTS)) {
    it(`with the filter "${what}", the event list reads at most 2,500 database pages, and both its query plan for the filter values and its generic query plan use indexes`, async () => {
      await assertPlans((of) => readPages(listEvents(of.tenantId, filter(of))), uses);
    });
  }
});
