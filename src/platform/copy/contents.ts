import type pg from 'pg';
import { type Static, Type } from 'typebox';
import type { Database } from '../db/database.ts';
import { namesOfThisVersion, readMigrations } from '../db/migrate.ts';
import { TABLES } from '../db/tables.ts';
import { OperatorError } from '../errors.ts';

const Name = Type.String({ pattern: '^\\w{1,63}$' });

export type TableShape = Static<typeof TableShape>;
const TableShape = Type.Object({ name: Name, columns: Type.Array(Name, { minItems: 1 }) });

export type Contents = Static<typeof Contents>;
export const Contents = Type.Object({
  postgres: Type.String(),
  migrations: Type.Array(Type.String()),
  /** Tables in an order in which each foreign key refers to an earlier table, with the columns in the order of COPY. */
  tables: Type.Array(TableShape, { minItems: 1 }),
});

/** Names of the tables whose rows are not copied to another database, each with the reason. */
export const TRANSIENT_TABLES: Readonly<Record<string, string>> = {
  recent_change:
    'Its rows name transactions of the old server, and a new server counts its transactions from the start.',
};

export const COPIED_TABLES: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(TABLES).filter(([name]) => !(name in TRANSIENT_TABLES)),
);

/** Reads the contents in the snapshot of the open transaction, without tables and columns that this version does not know. */
export async function readContents(client: pg.Client, db: Database): Promise<Contents> {
  const { rows: versions } = await client.query<{ version: string }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version`,
  );
  const known = await namesOfThisVersion();
  const applied = await readMigrations(db);
  return {
    postgres: versions[0]?.version ?? '',
    migrations: known.filter((name) => applied.has(name)),
    tables: await readTables(client),
  };
}

/** @throws OperatorError if the data has migrations of a newer version of the service */
export async function refuseNewer(migrations: string[]): Promise<void> {
  const known = await namesOfThisVersion();
  const newer = migrations.filter((name) => !known.includes(name));
  if (newer.length > 0) {
    throw new OperatorError(
      `The data has migrations of a newer version of roomservice (${newer.join(', ')}). Install that version, and run the command again.`,
    );
  }
}

async function readTables(client: pg.Client): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(
    `
    WITH RECURSIVE own AS (
      SELECT oid, relname::text AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1)
    ), level AS (
      SELECT oid, 0 AS depth FROM own
      UNION
      SELECT f.conrelid, depth + 1 FROM level
      JOIN pg_constraint AS f ON f.contype = 'f' AND f.confrelid = level.oid AND f.conrelid <> f.confrelid
      WHERE depth < cardinality($1)
    )
    SELECT name, (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = own.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
    FROM own JOIN level USING (oid) GROUP BY own.oid, name ORDER BY max(depth), name`,
    [Object.keys(COPIED_TABLES)],
  );
  return rows.map(({ name, columns }) => ({
    name,
    columns: columns.filter((column) => column in (COPIED_TABLES[name] ?? {})),
  }));
}
