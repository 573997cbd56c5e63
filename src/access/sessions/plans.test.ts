import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { openSession, personId } from '#test/support/sessions.ts';
import { updateLastUses } from '../tenants/tenants.ts';
import * as store from './store.ts';

let service: TestService;
let tenant: TestTenant;
let db: Database;
const sent: CompiledQuery[] = [];
before(async () => {
  service = await startService();
  tenant = await service.tenant();
  await openSession(service, tenant.tenantId, 'owner');
  await openSession(service, tenant.tenantId, 'staff');
  db = createDatabase({ url: service.database.url, poolSize: 2, log: ({ query }) => sent.push(query) });
  await addSessions('owner', 4_000);
  await addSessions('staff', 90);
  await sql`ANALYZE session`.execute(db);
});
after(async () => {
  await db.destroy();
  await service.close();
});

async function addSessions(role: 'owner' | 'staff', count: number): Promise<void> {
  const id = await personId(service, tenant.tenantId, role);
  await sql`
    INSERT INTO session (tenant_id, id, secret_hash, kind, person_id, generation, idle_seconds, expires_at, address, user_agent)
    SELECT s.tenant_id, gen_random_uuid(), sha256((s.id::text || n)::bytea), s.kind, s.person_id, s.generation, s.idle_seconds, s.expires_at,
      s.address, s.user_agent
    FROM session AS s CROSS JOIN generate_series(1, ${count}) AS n WHERE s.person_id = ${id}`.execute(db);
}

/** Runs the work, and returns the query plan of each of its statements on the table `session`, as JSON text. */
async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
  sent.length = 0;
  await work();
  const statements = sent.filter((query) => /\bsession\b/.test(query.sql));
  const plans = [];
  for (const { sql: text, parameters } of statements) {
    const { rows } = await db.executeQuery(CompiledQuery.raw(`EXPLAIN ${text}`, [...parameters]));
    plans.push(JSON.stringify(rows));
  }
  return plans;
}

const isCluster = await isTestCluster();

describe('the SQL statements on the table of sessions', {
  skip: isCluster && 'the plan of a cluster does not show the plan of its nodes',
}, () => {
  it('each statement that finds, lists, ends, removes or updates sessions reads the table of sessions by an index', async () => {
    const { tenantId } = tenant;
    const holder = { kind: 'person', id: await personId(service, tenantId, 'staff') } as const;
    const use = { tenantId, id: newId(), atMs: Date.now() };
    const hash = Buffer.alloc(32);
    const works: [string, () => Promise<unknown>][] = [
      ['a call', () => store.findSession(db, tenantId, hash)],
      ['the list', () => store.listSessions(db, tenantId, holder, 100)],
      ['a use', () => updateLastUses(db, 'session', [use], Date.now())],
      ['a sign-out', () => store.endSession(db, tenantId, { hash })],
      ['the end', () => store.endSession(db, tenantId, { id: use.id })],
      [
        'a sign-in',
        () => inTransaction(db, (tx) => store.removeOldSessions(tx, tenantId, holder.id, { days: 30, keep: 100 })),
      ],
    ];
    for (const [name, work] of works) {
      const plans = await plansOf(work);
      assert.equal(plans.length, 1, name);
      assert.ok(
        plans.every((plan) => plan.includes('Index') && !/Seq Scan on session/.test(plan)),
        `${name}: ${plans.join()}`,
      );
    }
  });
});
