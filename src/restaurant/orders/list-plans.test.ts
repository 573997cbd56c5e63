import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { fillWithoutIndexes, openPlanned, type PlannedDatabase } from '#test/support/plans.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { readKeysetPage } from '#platform/db/keyset-list.ts';
import { listOfTenant, type OrderFilter } from './list-store.ts';

/** Number of orders of the large tenant. They are spread over 200 days, so a search in 31 days has about 9,000 orders. */
const MANY = 60_000;
const FEW = 20;
const PAGE = 50;
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
/**
 * Maximum number of database blocks (8 KiB of a table or an index) that a statement may read to return 50 orders of a list. The limit
 * allows one block of the table and a few blocks of an index for each order. It also allows an examination of 10,000 orders.
 */
const MOST_PAGES = 1_200;

const isCluster = await isTestCluster();

describe('plans of the lists of orders', {
  skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let planned: PlannedDatabase;
  let large: TestTenant;
  let small: TestTenant;
  before(async () => {
    service = await startService();
    planned = openPlanned(service.database.url, ['restaurant_order'], MOST_PAGES);
    [large, small] = [await service.tenant(), await service.tenant()];
    await fillWithoutIndexes(service.database.db, ['restaurant_order'], async () => {
      await Promise.all([insert(large, MANY), insert(small, FEW)]);
    });
    await sql`VACUUM ANALYZE restaurant_order, credential`.execute(service.database.db);
  });
  after(async () => {
    await planned.db.destroy();
    await service.close();
  });

  /**
   * Inserts orders. One in 200 is open, and one in 300 has the type `pick_up`. About one in ten has a name that begins with `Ánà`. The
   * orders have 4,500 different phone numbers.
   */
  async function insert({ tenantId, credential }: TestTenant, count: number): Promise<void> {
    await sql`
      INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, customer_name, customer_phone, lines,
        total, currency, created_at, status_changed_at, customer_search_name, customer_digits)
      SELECT found.*, created_at, lower(translate(customer_name, 'ÁáàŁłŻż', 'AaaLlZz')),
      regexp_replace(translate(customer_phone, '٣٥١', '351'), '[^0-9]', '', 'g')
      FROM (
      SELECT ${tenantId}::bigint, (lpad(to_hex(ms), 12, '0') || '7' || left(hash, 3) || 'a' || right(hash, 15))::uuid,
        ${credential.id}::uuid, 'E-' || n,
        CASE WHEN n % 200 = 0 THEN 'pending' WHEN n % 7 = 0 THEN 'cancelled' ELSE 'completed' END,
        CASE WHEN n % 300 = 0 THEN 'pick_up' WHEN n % 3 = 0 THEN 'take_away' ELSE 'delivery' END,
        CASE WHEN n % 10 = 0 THEN NULL WHEN n % 9 = 0 THEN 'Ánà ' || n ELSE initcap(left(hash, 8)) END,
        CASE WHEN n % 10 = 0 THEN NULL WHEN n % 50 = 1 THEN '+٣٥١ ' || n % 5000 ELSE '+351 ' || n % 5000 END, '[]'::json, 0, 'EUR', to_timestamp(ms / 1000.0)
      FROM (
        SELECT n, md5(n::text) AS hash, ${NOW_MS}::bigint - (200 * ${DAY_MS}::bigint / ${count}::bigint) * (${count}::bigint - n) AS ms
        FROM generate_series(1, ${count}::bigint) AS n
      ) AS made
      ) AS found (tenant_id, id, credential_id, external_order_id, status, order_type, customer_name, customer_phone, lines,
        total, currency, created_at)
    `.execute(service.database.db);
  }

  async function read(of: TestTenant, filter: OrderFilter, order: 'newest' | 'oldest'): Promise<void> {
    const list = listOfTenant(of.tenantId, filter, order);
    await readKeysetPage(planned.db, list, { after: null, limit: PAGE });
    await readKeysetPage(planned.db, list, { after: [firstIdAt(NOW_MS - 20 * DAY_MS)], limit: PAGE });
  }

  const since = (days: number) => firstIdAt(NOW_MS - days * DAY_MS);
  const INDEXES_OF_NAMES = new Set(['restaurant_order_by_name', 'restaurant_order_pkey']);
  const FILTERS: Record<string, { filter: OrderFilter; uses?: Set<string> }> = {
    'no filter': { filter: {} },
    'a frequent status': { filter: { status: 'completed' } },
    'a rare status': { filter: { status: 'pending' }, uses: new Set(['restaurant_order_open']) },
    'a status without orders': { filter: { status: 'ready' }, uses: new Set(['restaurant_order_open']) },
    open: { filter: { open: true }, uses: new Set(['restaurant_order_open']) },
    'ids of which none exists': {
      filter: { ids: [since(1), since(2), since(3)] },
      uses: new Set(['restaurant_order_pkey']),
    },
    'a frequent order type': { filter: { order_type: 'delivery' } },
    'a rare order type': { filter: { order_type: 'pick_up' }, uses: new Set(['restaurant_order_pkey']) },
    'a phone': { filter: { digits: '35177' }, uses: new Set(['restaurant_order_by_phone']) },
    'a phone in other digits': { filter: { digits: '35151' }, uses: new Set(['restaurant_order_by_phone']) },
    'an unknown phone': { filter: { digits: '999' }, uses: new Set(['restaurant_order_by_phone']) },
    'a frequent name of 31 days': { filter: { name: 'ana', fromId: since(31) }, uses: INDEXES_OF_NAMES },
    'a rare name of 31 days': { filter: { name: 'abcdef', fromId: since(31) }, uses: INDEXES_OF_NAMES },
    'an external id': { filter: { external_order_id: 'E-77' } },
    'an unknown external id': { filter: { external_order_id: 'unknown' } },
    'a day': { filter: { fromId: since(3), beforeId: since(2) }, uses: new Set(['restaurant_order_pkey']) },
    'open orders of a day': { filter: { open: true, fromId: since(3), beforeId: since(2) } },
    'a type and a status': { filter: { order_type: 'pick_up', status: 'completed' } },
    'a phone and a name': { filter: { digits: '35177', name: 'a', fromId: since(31) } },
  };

  for (const [what, { filter, uses }] of Object.entries(FILTERS)) {
    for (const order of ['newest', 'oldest'] as const) {
      it(`order list (filter: ${what}, ${order} first): each query plan, custom or generic, uses an index, and reading orders takes at most ${MOST_PAGES} database pages`, async () => {
        for (const owner of [large, small]) {
          const indexes = await planned.indexesOf(() => read(owner, filter, order));
          if (uses !== undefined && owner === large) {
            assert.ok(!uses.isDisjointFrom(indexes), [...indexes].join());
          }
        }
      });
    }
  }

  it('order list (filter: open orders of one credential): each query plan, custom or generic, uses an index', async () => {
    const filter: OrderFilter = { credential_id: large.credential.id, open: true };
    await planned.indexesOf(() => read(large, filter, 'newest'));
  });
});
