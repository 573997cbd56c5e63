import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { type ListOrder, NEWEST_FIRST, OLDEST_FIRST } from '#platform/db/keyset-list.ts';
import { listOfTenant, type OrderFilter } from './list-store.ts';

/** Number of orders of the large tenant. They are spread over 200 days, so 31 days have about 9,000. */
const MANY = 60_000;
const FEW = 20;
const PAGE = 50;
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
/**
 * Maximum number of pages that a statement reads for one page of a list, or to count the orders of a selective filter. An order takes a page,
 * and a few pages of an index. A search by name also sorts the names of 31 days. The count of a filter that most orders pass reads more.
 */
const MOST_PAGES = 1_200;

const isCluster = await isTestCluster();

describe('plans of the lists of orders', {
  skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let db: Database;
  const sent: CompiledQuery[] = [];
  let large: TestTenant;
  let small: TestTenant;
  before(async () => {
    service = await startService();
    db = createDatabase({ url: service.database.url, poolSize: 4, log: ({ query }) => sent.push(query) });
    [large, small] = [await service.tenant(), await service.tenant()];
    await Promise.all([insert(large, MANY), insert(small, FEW)]);
    await sql`VACUUM ANALYZE restaurant_order, credential`.execute(service.database.db);
  });
  after(async () => {
    await db.destroy();
    await service.close();
  });

  /** Inserts orders. One in 200 is open, one in 300 is picked up, and names and phones repeat as in a town. */
  async function insert({ tenantId, credential }: TestTenant, count: number): Promise<void> {
    await sql`
      INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, customer_name,
        customer_phone, lines, total, currency, created_at)
      SELECT ${tenantId}::bigint, (lpad(to_hex(ms), 12, '0') || '7' || left(hash, 3) || 'a' || right(hash, 15))::uuid,
        ${credential.id}::uuid, 'E-' || n,
        CASE WHEN n % 200 = 0 THEN 'pending' WHEN n % 7 = 0 THEN 'cancelled' ELSE 'completed' END,
        CASE WHEN n % 300 = 0 THEN 'pick_up' WHEN n % 3 = 0 THEN 'take_away' ELSE 'delivery' END,
        CASE WHEN n % 10 = 0 THEN NULL WHEN n % 9 = 0 THEN 'Ánà ' || n ELSE initcap(left(hash, 8)) END,
        CASE WHEN n % 10 = 0 THEN NULL ELSE '+351 ' || n % 5000 END, '[]', 0, 'EUR', to_timestamp(ms / 1000.0)
      FROM (
        SELECT n, md5(n::text) AS hash, ${NOW_MS}::bigint - (200 * ${DAY_MS}::bigint / ${count}::bigint) * (${count}::bigint - n) AS ms
        FROM generate_series(1, ${count}::bigint) AS n
      ) AS made
    `.execute(service.database.db);
  }

  interface Plan {
    'Node Type': string;
    'Relation Name'?: string;
    'Index Name'?: string;
    'Shared Hit Blocks'?: number;
    'Shared Read Blocks'?: number;
    Plans?: Plan[];
  }

  async function planOf(statement: CompiledQuery, options: string): Promise<Plan> {
    const text = `EXPLAIN (${options}, FORMAT JSON) ${statement.sql}`;
    const parameters = options.includes('GENERIC') ? [] : [...statement.parameters];
    const { rows } = await service.database.db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      CompiledQuery.raw(text, parameters),
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    assert.ok(plan);
    return plan;
  }

  const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
  /** Returns the names of the indexes that a plan uses. Asserts that it reads no table without an index. */
  function indexesOf(plan: Plan, what: string): string[] {
    const nodes = nodesOf(plan);
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
    assert.deepEqual(
      scanned.filter((table) => table === 'restaurant_order'),
      [],
      `${what}\n${JSON.stringify(plan)}`,
    );
    return nodes.flatMap((node) => node['Index Name'] ?? []);
  }

  /** Reads the first page, a later page and a batch of a list, and returns the statements that this took. */
  async function statementsOf(of: TestTenant, filter: OrderFilter, order: ListOrder): Promise<CompiledQuery[]> {
    sent.length = 0;
    const list = listOfTenant(db, of.tenantId, filter, order);
    const { count } = await list.readPage(0, PAGE);
    await list.readPage(Math.floor(count / 2), PAGE);
    await list.readBatch(firstIdAt(NOW_MS - 20 * DAY_MS), PAGE);
    return sent.filter((query) => query.sql.includes('restaurant_order'));
  }

  const since = (days: number) => firstIdAt(NOW_MS - days * DAY_MS);
  const INDEXES_OF_NAMES = ['restaurant_order_by_name', 'restaurant_order_pkey'];
  const FILTERS: Record<string, { filter: OrderFilter; uses?: string[] }> = {
    'no filter': { filter: {} },
    'a frequent status': { filter: { status: 'completed' } },
    // All pending orders are open.
    'a rare status': {
      filter: { status: 'pending' },
      uses: ['restaurant_order_by_status', 'restaurant_order_open'],
    },
    'a status without orders': { filter: { status: 'ready' }, uses: ['restaurant_order_by_status'] },
    open: { filter: { isOpen: true }, uses: ['restaurant_order_open'] },
    'ids of which none exists': { filter: { ids: [since(1), since(2), since(3)] }, uses: ['restaurant_order_pkey'] },
    'a frequent order type': { filter: { orderType: 'delivery' } },
    'a rare order type': { filter: { orderType: 'pick_up' }, uses: ['restaurant_order_by_type'] },
    'a phone': { filter: { phone: '+351 77' }, uses: ['restaurant_order_by_phone'] },
    'an unknown phone': { filter: { phone: '999' }, uses: ['restaurant_order_by_phone'] },
    'a frequent name of 31 days': { filter: { name: 'ana', fromId: since(31) }, uses: INDEXES_OF_NAMES },
    'a rare name of 31 days': { filter: { name: 'abcdef', fromId: since(31) }, uses: INDEXES_OF_NAMES },
    'an external id': { filter: { externalOrderId: 'E-77' } },
    'an unknown external id': { filter: { externalOrderId: 'unknown' } },
    'a day': { filter: { fromId: since(3), beforeId: since(2) }, uses: ['restaurant_order_pkey'] },
    'open orders of a day': { filter: { isOpen: true, fromId: since(3), beforeId: since(2) } },
    'a type and a status': { filter: { orderType: 'pick_up', status: 'completed' } },
    'a phone and a name': { filter: { phone: '+351 77', name: 'a', fromId: since(31) } },
  };

  for (const [what, { filter, uses }] of Object.entries(FILTERS)) {
    for (const [name, order] of [
      ['newest first', NEWEST_FIRST],
      ['oldest first', OLDEST_FIRST],
    ] as const) {
      it(`${what}, ${name}: each statement uses an index, with its values and without them, and reads few pages`, async () => {
        for (const owner of [large, small]) {
          for (const statement of await statementsOf(owner, filter, order)) {
            const plan = await planOf(statement, 'ANALYZE, BUFFERS');
            const indexes = indexesOf(plan, statement.sql);
            const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
            if (uses !== undefined || !statement.sql.includes('"list"')) {
              assert.ok(pages <= MOST_PAGES, `${pages} pages: ${statement.sql}\n${JSON.stringify(plan)}`);
            }
            if (uses !== undefined && owner === large) {
              assert.ok(
                indexes.some((index) => uses.includes(index)),
                `${indexes.join()}: ${statement.sql}`,
              );
            }
            indexesOf(await planOf(statement, 'GENERIC_PLAN'), statement.sql);
          }
        }
      });
    }
  }

  it("a credential's orders: each statement uses an index", async () => {
    for (const statement of await statementsOf(
      large,
      { credentialId: large.credential.id, isOpen: true },
      NEWEST_FIRST,
    )) {
      indexesOf(await planOf(statement, 'ANALYZE, BUFFERS'), statement.sql);
    }
  });
});
