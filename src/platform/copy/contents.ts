import type pg from 'pg';
import { type Static, Type } from 'typebox';
import { namesOfThisVersion } from '../db/migrate.ts';
import { TABLES } from '../db/tables.ts';
import { OperatorError } from '../errors.ts';

const Name = Type.String({ pattern: '^\\w{1,63}$' });

export type TableShape = Static<typeof TableShape>;
const TableShape = Type.Object({ name: Name, columns: Type.Array(Name, { minItems: 1 }) });

export type Contents = Static<typeof Contents>;
export const Contents = Type.Object({
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

/** Reads the tables in the snapshot of the open transaction, without tables and columns that this version does not know. */
export async function readTables(client: pg.Client): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(
    `
    SELECT relname::text AS name, (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
    FROM pg_class AS c
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1)
    ORDER BY array_position($1, relname::text)`,
    [Object.keys(COPIED_TABLES)],
  );
  return rows.map(({ name, columns }) => ({
    name,
    columns: columns.filter((column) => column in (COPIED_TABLES[name] ?? {})),
  }));
}
