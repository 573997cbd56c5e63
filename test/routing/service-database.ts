import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { readRules } from '#platform/db/distribution.ts';
import type { TestDatabase } from '../support/database.ts';
import { loadRoutingCheck } from './routable.ts';

/** Database of a service under test. */
export interface ServiceDatabase {
  db: Database;
  close: () => Promise<void>;
}

/**
 * Statements that read the data of all tenants on purpose (rule "Every statement filters by tenant" in docs/ARCHITECTURE.md): the search for due
 * deliveries, and the operator's count of deliveries.
 */
const OF_ALL_TENANTS = [/FROM credential AS c CROSS JOIN LATERAL/, /AS pending, .* AS "oldestDueSeconds"/s];

/**
 * Faults of the statements that this process has checked. The result depends only on the tables, which are those of the migrations. To parse a
 * statement takes some milliseconds, and most test files send many of the same statements.
 */
const faultsByStatement = new Map<string, string[]>();

/**
 * Opens the database of a service under test. If the environment variable `TEST_LAYOUT` is `cluster`, the service sends the statements for a
 * cluster to the PostgreSQL of the tests. `close` then checks that a cluster can route each of them.
 */
export async function openServiceDatabase({ db, url }: TestDatabase): Promise<ServiceDatabase> {
  if (process.env['TEST_LAYOUT'] !== 'cluster') {
    return { db, close: async () => {} };
  }
  const check = await loadRoutingCheck(await readCatalogue(db));
  const faultsOf = (statement: string) => {
    const faults = faultsByStatement.get(statement) ?? check(statement);
    faultsByStatement.set(statement, faults);
    return faults;
  };
  const statements = new Set<string>();
  const cluster = createDatabase({
    url,
    poolSize: 10,
    layout: 'cluster',
    log: ({ query }) => statements.add(query.sql),
  });
  return {
    db: cluster,
    async close() {
      await cluster.destroy();
      const faults = [...statements]
        .filter((statement) => !OF_ALL_TENANTS.some((pattern) => pattern.test(statement)))
        .map((statement) => ({ statement, faults: faultsOf(statement) }))
        .filter((each) => each.faults.length > 0);
      const report = faults.map((each) => `${each.faults.join('; ')}:\n${each.statement}`).join('\n\n');
      assert.equal(report, '', `A cluster cannot route these statements:\n\n${report}`);
    },
  };
}

async function readCatalogue(db: Database) {
  const tables = [...(await readRules(db))].filter(([, placement]) => placement === 'by tenant');
  const functions = await sql<{ name: string }>`
    SELECT DISTINCT proname AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'i'
  `.execute(db);
  return {
    tenantTables: new Set(tables.map(([table]) => table)),
    changingFunctions: new Set(functions.rows.map(({ name }) => name)),
  };
}
