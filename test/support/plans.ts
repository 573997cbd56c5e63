import assert from 'node:assert/strict';
import { CompiledQuery, sql } from 'kysely';
import { createDatabase, type Database, type Db } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';

/** Node of a query plan, as `EXPLAIN (FORMAT JSON)` shows it. */
interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Plan[];
}

/** Database connections that record the statements of a test, so that the test can check the query plans of these statements. */
export interface PlannedDatabase {
  db: Database;
  /**
   * Checks the plans of the statements of `work` about the `tables`: with their values and generic, they use only indexes of these tables,
   * and they read at most `mostPages` pages of 8 KiB. @returns the names of the indexes
   */
  indexesOf: (work: () => Promise<unknown>) => Promise<Set<string>>;
}

export function openPlanned(url: string, tables: string[], mostPages: number): PlannedDatabase {
  const sent: CompiledQuery[] = [];
  const db = createDatabase({ url, poolSize: 4, log: ({ query }) => sent.push(query) });
  const isAbout = (query: CompiledQuery) => tables.some((table) => new RegExp(`\\b${table}\\b`).test(query.sql));
  return {
    db,
    async indexesOf(work) {
      sent.length = 0;
      await work();
      const statements = sent.flatMap((statement, index) =>
        isAbout(statement) ? [{ statement, settings: settingsBefore(sent, index) }] : [],
      );
      assert.ok(statements.length > 0, 'the work sends a statement about the tables');
      const used = new Set<string>();
      for (const { statement, settings } of statements) {
        const { plan, generic } = await inTransaction(db, async (tx) => {
          await (settings === null ? undefined : tx.executeQuery(settings));
          return {
            plan: await planOf(tx, statement, 'ANALYZE, BUFFERS'),
            generic: await planOf(tx, statement, 'GENERIC_PLAN'),
          };
        });
        for (const index of indexNames(plan, tables, statement.sql)) {
          used.add(index);
        }
        const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
        assert.ok(pages <= mostPages, `${pages} pages: ${statement.sql}\n${JSON.stringify(plan)}`);
        indexNames(generic, tables, statement.sql);
      }
      return used;
    },
  };
}

/** The service sets options of the planner directly before a statement, for example to make it use an index. */
function settingsBefore(sent: CompiledQuery[], index: number): CompiledQuery | null {
  const before = sent[index - 1];
  return before?.sql.includes("set_config('enable_") ? before : null;
}

async function planOf(db: Db, statement: CompiledQuery, options: string): Promise<Plan> {
  const parameters = options.includes('GENERIC') ? [] : [...statement.parameters];
  const text = `EXPLAIN (${options}, FORMAT JSON) ${statement.sql}`;
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(CompiledQuery.raw(text, parameters));
  return rows[0]?.['QUERY PLAN'][0].Plan ?? assert.fail(`no plan of ${statement.sql}`);
}

/** Returns the names of the indexes that a plan uses. Asserts that the plan has no sequential scan of one of `tables`. */
function indexNames(plan: Plan, tables: string[], what: string): string[] {
  const nodes = nodesOf(plan);
  const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'] ?? '');
  assert.deepEqual(
    scanned.filter((table) => tables.includes(table)),
    [],
    `${what}\n${JSON.stringify(plan)}`,
  );
  return nodes.flatMap((node) => node['Index Name'] ?? []);
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** On a busy machine, filling a large table may take longer than the 10 s that the service permits. */
export async function withoutTimeLimit(url: string, work: (db: Database) => Promise<unknown>): Promise<void> {
  const db = createDatabase({ url, poolSize: 1, hasNoTimeLimit: true });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

/** Fills the tables without their indexes, except those of constraints, which is several times as fast. */
export async function fillWithoutIndexes(db: Database, tables: string[], fill: () => Promise<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid = ANY (${tables}::text[]::regclass[])
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`.execute(db);
  for (const { name } of rows) {
    await sql`DROP INDEX ${sql.raw(name)}`.execute(db);
  }
  await fill();
  for (const { definition } of rows) {
    await sql.raw(definition).execute(db);
  }
}
