import assert from 'node:assert/strict';
import { type LogEvent, sql } from 'kysely';
import { createDatabase, type Database, isCluster, type Layout } from '#platform/db/database.ts';
import { placementOf } from '#platform/db/distribution.ts';
import { TABLES } from '#platform/db/tables.ts';
import { type FaultsOf, loadRoutingCheck } from './routable.ts';
import { TWO_FORMS } from './two-forms.ts';

/** Database connections of a service under test, with a record of the statements that the service has sent. */
export interface ServiceDatabase {
  db: Database;
  /** Texts of the statements that were sent, with the parameters of the last time. */
  statements: ReadonlyMap<string, readonly unknown[]>;
  /** @throws AssertionError if a cluster could not route a statement that was sent so far */
  assertRoutable: () => Promise<void>;
  /** Closes the connections. @throws AssertionError if a cluster could not route a statement */
  close: () => Promise<void>;
}

/**
 * Connections that tests got from `createTestDatabase`. If a test starts a service with such connections, `openServiceDatabase` opens new
 * connections for the service and checks their statements. So the statements of the test are not checked. If a test starts a service with
 * other connections, for example through a proxy, the service uses these connections, and no statement is checked.
 */
const ofTestDatabases = new WeakSet<Database>();

/** Marks connections as those of a test. A service that is started with them opens its own connections, whose statements are checked. */
export function checkServicesOf(db: Database): Database {
  ofTestDatabases.add(db);
  return db;
}

/**
 * Opens connections for a service under test, separate from those of the test, because only the statements of the service are checked. If
 * the environment variable `TEST_LAYOUT` is `cluster`, the service sends the statements for a cluster.
 */
export async function openServiceDatabase(
  { db, url }: { db: Database; url: string },
  layout?: Layout,
): Promise<ServiceDatabase> {
  if (!ofTestDatabases.has(db)) {
    return { db, statements: new Map(), assertRoutable: async () => {}, close: async () => {} };
  }
  const isForCluster = process.env['TEST_LAYOUT'] === 'cluster';
  return openChecked(url, layout ?? (isForCluster || isCluster(db) ? 'cluster' : 'one node'));
}

/**
 * Opens connections that record their statements. `close` checks that a cluster can route each of them. If the layout is `one node`, a
 * statement that has another form for a cluster (`two-forms.ts`) is not checked.
 */
export function openChecked(url: string, layout: Layout): ServiceDatabase {
  const statements = new Map<string, readonly unknown[]>();
  const log = ({ query }: LogEvent) => void statements.set(query.sql.trim(), query.parameters);
  const db = createDatabase({ url, poolSize: 10, layout, log });
  const assertSentRoutable = async () => {
    faultsOf ??= await loadRoutingCheck(await readCatalogue(db));
    assertRoutable(faultsOf, layout, statements);
  };
  return {
    db,
    statements,
    assertRoutable: assertSentRoutable,
    async close() {
      try {
        await assertSentRoutable();
      } finally {
        await db.destroy();
      }
    },
  };
}

let faultsOf: FaultsOf | undefined;

/**
 * Statements that may read the data of all tenants: the search for due deliveries, and the operator's count of deliveries. They are
 * exceptions to the rule "Every statement filters by tenant" in docs/ARCHITECTURE.md.
 */
const OF_ALL_TENANTS = [
  /FROM credential AS c CROSS JOIN LATERAL/,
  /FROM delivery AS d JOIN credential AS c/,
  /AS pending, .* AS "oldestDueSeconds"/s,
];

/**
 * Statements that this process has checked, by layout. Test files repeat most statements, and parsing a statement takes some time, so each
 * statement is checked only once.
 */
const checked = { 'one node': new Set<string>(), cluster: new Set<string>() };

function assertRoutable(findFaults: FaultsOf, layout: Layout, sent: Map<string, readonly unknown[]>): void {
  const isExcepted = (statement: string) =>
    OF_ALL_TENANTS.some((pattern) => pattern.test(statement)) ||
    (layout === 'one node' && TWO_FORMS.some(({ oneNode }) => oneNode.test(statement)));
  const found = [...sent]
    .filter(([statement]) => !checked[layout].has(statement) && !isExcepted(statement))
    .map(([statement, parameters]) => ({
      statement,
      faults: findFaults(statement, layout === 'cluster' ? parameters : undefined),
    }));
  const wrong = found.filter(({ faults }) => faults.length > 0);
  const report = wrong.map(({ statement, faults }) => `${faults.join('; ')}:\n${statement}`).join('\n\n');
  assert.equal(report, '', `A cluster cannot route these statements:\n\n${report}`);
  found.forEach(({ statement }) => checked[layout].add(statement));
}

async function readCatalogue(db: Database) {
  const functions = await sql<{ name: string }>`
    SELECT DISTINCT proname AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'i'
  `.execute(db);
  return {
    tenantTables: new Set(Object.keys(TABLES).filter((table) => placementOf(table) === 'by tenant')),
    changingFunctions: new Set(functions.rows.map(({ name }) => name)),
  };
}
