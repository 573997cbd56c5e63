import type pg from 'pg';
import { tablesOfThisVersion } from './migrate.ts';

/** Table whose rows are copied to another database, with its columns in the order in which COPY writes them. */
export interface TableShape {
  name: string;
  columns: string[];
}

/** State of the sequence that gives an identity column its values. */
export interface SequenceState {
  table: string;
  column: string;
  /** Last value as a decimal text, because it may exceed 2^53. */
  lastValue: string;
  /** False if no row has got `lastValue` yet, so `lastValue` is the next value of the sequence. */
  isCalled: boolean;
}

/** Description of a database without its rows. A transfer needs this description before it can load the rows into another database. */
export interface Contents {
  /** Version of the PostgreSQL server, for example `18.4`. */
  postgres: string;
  /** Names of the applied migrations, in their order. */
  migrations: string[];
  /** Tables in an order in which each foreign key refers to an earlier table. */
  tables: TableShape[];
  sequences: SequenceState[];
}

/** Names of the tables whose rows are not copied, each with the reason. If a new server needs such rows, it makes them itself. */
export const TRANSIENT_TABLES: Readonly<Record<string, string>> = {
  recent_change:
    'Its rows name transactions of the old server, and a new server counts its transactions from the start.',
  scan_lease: 'Its rows are leases of workers that do not run on the new server. The migration makes the rows.',
  kysely_migration: 'The target lists the migrations that it applies itself.',
  kysely_migration_lock: 'Lock of an older migrator.',
};

/** Tables in which a migration writes rows, each with an SQL condition that is true for these rows until they are changed. */
export const SEEDED_TABLES: Readonly<Record<string, string>> = { feed_era: 'era = 0' };

/**
 * Reads the contents of a migrated database with several statements. The caller must begin a transaction with one snapshot first, if the
 * results of these statements have to be of the same moment.
 */
export async function readContents(client: pg.Client): Promise<Contents> {
  const { rows: versions } = await client.query<{ version: string }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version`,
  );
  return {
    postgres: versions[0]?.version ?? '',
    migrations: await readMigrations(client),
    tables: await readTables(client),
    sequences: await readSequences(client),
  };
}

/** Returns the names of the applied migrations, or null if the database was never migrated. */
export async function findMigrations(client: pg.Client): Promise<string[] | null> {
  const { rows } = await client.query<{ isThere: boolean }>(
    `SELECT to_regclass('kysely_migration') IS NOT NULL AS "isThere"`,
  );
  return rows[0]?.isThere ? await readMigrations(client) : null;
}

async function readMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM kysely_migration ORDER BY name');
  return rows.map(({ name }) => name);
}

/** Returns the names of all relations outside the schemas of PostgreSQL, without indexes, sequences and members of extensions. */
export async function readRelations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END AS name
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
    ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** Reads the tables of this version that the database has. It ignores tables that the operator has added. */
async function readTables(client: pg.Client): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape & { parents: string[] }>(
    `
    SELECT c.relname AS name,
      (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
       WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
      ARRAY(SELECT p.relname::text FROM pg_constraint AS f JOIN pg_class AS p ON p.oid = f.confrelid
            WHERE f.conrelid = c.oid AND f.contype = 'f' AND p.oid <> c.oid) AS parents
    FROM pg_class AS c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($1)
    ORDER BY c.relname`,
    [[...(await tablesOfThisVersion())].filter((name) => !(name in TRANSIENT_TABLES))],
  );
  return inOrderOfKeys(rows);
}

/** Sorts tables so that each table follows the tables to which its foreign keys refer. */
function inOrderOfKeys(tables: (TableShape & { parents: string[] })[]): TableShape[] {
  const left = new Map(tables.map((table) => [table.name, table]));
  const sorted: TableShape[] = [];
  while (left.size > 0) {
    const ready = [...left.values()].filter(({ parents }) => !parents.some((parent) => left.has(parent)));
    if (ready.length === 0) {
      throw new Error(
        `Foreign keys form a cycle between these tables, so they have no order: ${[...left.keys()].join(', ')}.`,
      );
    }
    for (const { name, columns } of ready) {
      sorted.push({ name, columns });
      left.delete(name);
    }
  }
  return sorted;
}

async function readSequences(client: pg.Client): Promise<SequenceState[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `
    SELECT c.relname AS "table", a.attname AS "column", pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attidentity <> ''
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY c.relname`,
  );
  const states: SequenceState[] = [];
  for (const { table, column, sequence } of rows) {
    // The name of the sequence needs no quotes here, because `pg_get_serial_sequence` has returned it with quotes.
    const { rows: found } = await client.query<{ last: string; isCalled: boolean }>(
      `SELECT last_value::text AS last, is_called AS "isCalled" FROM ${sequence}`,
    );
    states.push({ table, column, lastValue: found[0]?.last ?? '1', isCalled: found[0]?.isCalled ?? false });
  }
  return states;
}
