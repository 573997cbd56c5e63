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
  /** Last value of the sequence as a decimal text, because this value may exceed 2^53. */
  lastValue: string;
  /** False if the sequence has not given `lastValue` to a row yet. The next row then gets `lastValue`. */
  isCalled: boolean;
}

/**
 * Version, migrations, tables and sequences of a database, but not its rows. A transfer needs this description before it can load the rows
 * into another database.
 */
export interface Contents {
  /** Version of the PostgreSQL server, for example `18.4`. */
  postgres: string;
  /** Names of the applied migrations, in their order. */
  migrations: string[];
  /** Tables in an order in which each foreign key refers to an earlier table. */
  tables: TableShape[];
  sequences: SequenceState[];
}

/**
 * Names of the tables whose rows are not copied to another database, each with the reason. If the other database needs rows in such a
 * table, the service makes them there.
 */
export const TRANSIENT_TABLES: Readonly<Record<string, string>> = {
  recent_change:
    'Its rows name transactions of the old server, and a new server counts its transactions from the start.',
  scan_lease:
    'Its rows are leases of workers that do not run on the new server. The migrations of the new database insert other rows.',
  kysely_migration: 'The target lists the migrations that it applies itself.',
  kysely_migration_lock: 'Lock of an older migrator.',
};

/**
 * Tables into which a migration inserts rows, each with an SQL condition that recognizes such a row. When the row has changed, the
 * condition is no longer true. A database counts as empty if it has only such unchanged rows and rows of `TRANSIENT_TABLES`.
 */
export const SEEDED_TABLES: Readonly<Record<string, string>> = { feed_era: 'era = 0' };

/**
 * Reads the contents of a migrated database with several statements. If all results have to be of the same moment, the caller must first
 * begin a transaction with one snapshot.
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

/** Returns the names of all tables and views, except those of PostgreSQL itself and those of extensions. */
export async function readRelations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END AS name
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
    ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** Reads the tables that this version of the service uses and that exist in the database. Ignores tables that the operator has added. */
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
    // `pg_get_serial_sequence` returns the name of the sequence with the necessary quotes, so the name needs no further quotes here.
    const { rows: found } = await client.query<{ last: string; isCalled: boolean }>(
      `SELECT last_value::text AS last, is_called AS "isCalled" FROM ${sequence}`,
    );
    states.push({ table, column, lastValue: found[0]?.last ?? '1', isCalled: found[0]?.isCalled ?? false });
  }
  return states;
}
