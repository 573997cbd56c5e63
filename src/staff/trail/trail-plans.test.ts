import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type AuditFilter, listEntries } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { readKeysetPage } from '#platform/db/keyset-list.ts';
import { firstIdAt, newId } from '#platform/lib/ids.ts';
import { openPlanned, type PlannedDatabase, withoutTimeLimit } from '#test/support/plans.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { readNames } from './store.ts';

/** Number of audit entries of the tenant. The entries are spread over 30 days. */
const MANY = 60_000;
const PAGE = 50;
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const MOST_PAGES = 400;

const isCluster = await isTestCluster();

describe('query plans of the audit trail', {
  skip: isCluster && 'the plan of a cluster does not show the plans of its nodes',
}, () => {
  let service: TestService;
  let planned: PlannedDatabase;
  let tenantId: number;
  /** Id of an actor who has only one entry in 1,000. */
  const rare = newId();
  before(async () => {
    service = await startService();
    planned = openPlanned(service.database.url, ['audit_entry', 'app_user', 'dish'], MOST_PAGES);
    ({ tenantId } = await service.tenant());
    await withoutTimeLimit(service.database.url, async (db) => {
      await insert(db);
      await sql`VACUUM ANALYZE audit_entry`.execute(db);
    });
  });
  after(async () => {
    await planned.db.destroy();
    await service.close();
  });

  /** Inserts audit entries. One entry in 400 has a rare action, and each subject has 30 entries. */
  async function insert(db: Database): Promise<void> {
    await sql`
      INSERT INTO audit_entry (tenant_id, id, at, actor_type, actor_id, action, subject, details)
      SELECT ${tenantId}::bigint, (lpad(to_hex(ms), 12, '0') || '7' || left(md5(n::text), 3) || 'a' || right(md5(n::text), 15))::uuid,
        to_timestamp(ms / 1000.0), 'credential', CASE WHEN n % 1000 = 0 THEN ${rare}::uuid ELSE ${newId()}::uuid END,
        CASE WHEN n % 400 = 0 THEN 'pause.started' ELSE 'rates.written' END, 'subject ' || n % 2000, '{}'
      FROM (
        SELECT n, ${NOW_MS}::bigint - (30 * ${DAY_MS}::bigint / ${MANY}::bigint) * (${MANY}::bigint - n) AS ms
        FROM generate_series(1, ${MANY}::bigint) AS n
      ) AS numbered
    `.execute(db);
  }

  const day = { fromMs: NOW_MS - 3 * DAY_MS, toMs: NOW_MS - 2 * DAY_MS };
  const FILTERS: Record<string, { filter: AuditFilter; uses?: string }> = {
    'no filter': { filter: {}, uses: 'audit_entry_pkey' },
    'a frequent action': { filter: { action: 'rates.written' } },
    'a rare action': { filter: { action: 'pause.started' }, uses: 'audit_entry_by_action' },
    'an unknown action': { filter: { action: 'door.opened' }, uses: 'audit_entry_by_action' },
    'a rare actor': { filter: { actorId: rare }, uses: 'audit_entry_by_actor' },
    'an unknown actor': { filter: { actorId: firstIdAt(0) }, uses: 'audit_entry_by_actor' },
    'a subject': { filter: { subject: 'subject 7' }, uses: 'audit_entry_by_subject' },
    'a day': { filter: day, uses: 'audit_entry_pkey' },
    'an action of a day': { filter: { action: 'pause.started', ...day } },
  };
  for (const [what, { filter, uses }] of Object.entries(FILTERS)) {
    it(`a list with the filter "${what}" reads few pages by an index, also if the planner does not know the parameter values`, async () => {
      const used = await planned.indexesOf(async () => {
        const list = listEntries(tenantId, filter);
        await readKeysetPage(planned.db, list, { after: null, limit: PAGE });
        await readKeysetPage(planned.db, list, { after: [firstIdAt(NOW_MS - 20 * DAY_MS)], limit: PAGE });
      });
      assert.ok(uses === undefined || used.has(uses), `uses ${[...used].join()}`);
    });
  }

  it('the names of people and dishes on a page of the audit trail are read by an index, even if the tenant has 3,000 of each', async () => {
    await sql`
      INSERT INTO app_user (tenant_id, id, email, role, password_hash)
      SELECT ${tenantId}::bigint, gen_random_uuid(), 'person-' || n || '@plans.example', 'staff', '' FROM generate_series(1, 3000) AS n
    `.execute(service.database.db);
    await sql`
      INSERT INTO dish (tenant_id, id, sku, position, name, description, price, is_active, is_taxable, extra_tax_percentage, category, sub_menu,
        kitchen, menu_set, price_variants, addons, ingredients)
      SELECT tenant_id, gen_random_uuid(), 'sku ' || n, n, name, description, price, is_active, is_taxable, extra_tax_percentage, category,
        sub_menu, kitchen, menu_set, price_variants, addons, ingredients
      FROM dish, generate_series(100, 3000) AS n WHERE tenant_id = ${tenantId}::bigint AND sku = 'WATER'
    `.execute(service.database.db);
    await sql`ANALYZE app_user, dish`.execute(service.database.db);
    const ids = Array.from({ length: 200 }, () => newId());
    const used = await planned.indexesOf(() => readNames(planned.db, tenantId, { ids, skus: ids }));
    assert.ok(used.has('app_user_pkey'), `uses ${[...used].join()}`);
    assert.ok(used.has('dish_by_sku'), `uses ${[...used].join()}`);
  });
});
