import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { OperatorError } from '../errors.ts';
import { type Database, openDatabase } from './database.ts';
import { migrateToLatest } from './migrate.ts';
import { refuseUnfit } from './requirements.ts';
import {
  type Contents,
  findMigrations,
  readRelations,
  SEEDED_TABLES,
  type SequenceState,
  type TableShape,
  TRANSIENT_TABLES,
} from './transfer-contents.ts';
import { refuseNewer } from './transfer-newer.ts';
import { beginTransfer, connectForTransfer, databaseOn } from './transfer-session.ts';

/** Number of rows of each table. */
export type RowCounts = Record<string, number>;

export interface Load {
  contents: Contents;
  /** Opens a stream of the rows of a table in the text format of COPY. Called once for each table, in the order of `contents.tables`. */
  open: (table: TableShape) => AsyncIterable<Buffer>;
  /**
   * Called after all rows are loaded, before the COMMIT of the loading transaction. The statements of `db` run in this transaction, so the
   * function must not begin another transaction. If the function fails, the load is undone and the database stays empty.
   */
  beforeCommit?: (db: Database, counts: RowCounts) => Promise<void>;
  /** Called with each table before its rows are loaded. */
  onTable?: (table: TableShape) => void;
}

const NOT_EMPTY = 'Choose an empty database: another DATA_DIR, or a new database in DATABASE_URL. Nothing was changed.';

/**
 * Loads all rows into an empty database in one transaction. If the load fails or the process is killed, the database has its tables but no
 * rows, and the caller may repeat the load. After the load, the database has only the migrations that `contents` lists, so the caller must
 * apply the later migrations.
 * @throws OperatorError if the database is not empty or not fit for the data, or if `contents` lists migrations of a newer version
 */
export async function loadDatabase(url: string, load: Load): Promise<RowCounts> {
  await refuseNewer(load.contents);
  const client = await connectForTransfer(url);
  try {
    await migrateUpTo(url, client, load.contents);
    await beginTransfer(client, url, 'READ COMMITTED READ WRITE');
    await claimEmpty(client, load.contents);
    const counts = await copyAll(client, load);
    for (const sequence of load.contents.sequences) {
      await setSequence(client, sequence);
    }
    await load.beforeCommit?.(databaseOn(client), counts);
    await client.query('COMMIT');
    return counts;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Refuses a database that is not empty, before the load changes anything.
 * @throws OperatorError if one of these conditions is true:
 * - The database is a cluster (Citus).
 * - The database has tables or views of other programs.
 * - A table of this service has rows that the migrations have not made.
 * - The database has migrations that `contents` does not list.
 */
export async function refuseForeign(client: pg.Client, { migrations }: Contents): Promise<void> {
  const { rows } = await client.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
  if (rows.length > 0) {
    throw new OperatorError('The database is a cluster (Citus). Load the data into a database on one node.');
  }
  const applied = await findMigrations(client);
  const relations = await readRelations(client);
  if (applied === null && relations.length > 0) {
    throw new OperatorError(`The database is not empty: it contains the table or view ${relations[0]}. ${NOT_EMPTY}`);
  }
  const more = applied?.filter((name) => !migrations.includes(name)) ?? [];
  if (applied !== null) {
    await refuseRows(client);
  }
  if (more.length > 0) {
    throw new OperatorError(
      `The database has migrations that the data does not have (${more.join(', ')}). ${NOT_EMPTY}`,
    );
  }
}

/** Applies the migrations of the data to an empty database, after a check that the database is fit and empty. */
async function migrateUpTo(url: string, client: pg.Client, contents: Contents): Promise<void> {
  const db = openDatabase({ url, poolSize: 2 });
  try {
    await refuseUnfit(db);
    await refuseForeign(client, contents);
    await migrateToLatest(db, { only: new Set(contents.migrations) });
  } finally {
    await db.destroy();
  }
}

/**
 * Locks all tables against writes, and then checks that they are empty. If two loads run at the same time, the second load waits for the
 * locks of the first load. It then finds the rows of the first load, and is refused.
 */
async function claimEmpty(client: pg.Client, contents: Contents): Promise<void> {
  const tables = contents.tables.map(({ name }) => name);
  const relations = await readRelations(client);
  const foreign = relations.find((name) => !(name in TRANSIENT_TABLES) && !tables.includes(name));
  if (foreign !== undefined) {
    throw new OperatorError(`The database is not empty: it contains the table or view ${foreign}. ${NOT_EMPTY}`);
  }
  await client.query(`LOCK TABLE ${tables.map((name) => client.escapeIdentifier(name)).join(', ')} IN EXCLUSIVE MODE`);
  await refuseRows(client);
  for (const name of Object.keys(SEEDED_TABLES).filter((seeded) => tables.includes(seeded))) {
    await client.query(`DELETE FROM ${client.escapeIdentifier(name)}`);
  }
}

async function refuseRows(client: pg.Client): Promise<void> {
  for (const name of await readRelations(client)) {
    if (name in TRANSIENT_TABLES) {
      continue;
    }
    const isForeign = name.includes('.');
    const seeded = SEEDED_TABLES[name];
    const condition = seeded === undefined ? '' : `WHERE NOT (${seeded})`;
    const { rows } = isForeign
      ? { rows: [name] }
      : await client.query(`SELECT FROM ${client.escapeIdentifier(name)} ${condition} LIMIT 1`);
    if (rows.length > 0) {
      throw new OperatorError(
        `The database is not empty: ${isForeign ? 'it contains the table or view' : 'there are rows in'} ${name}. ${NOT_EMPTY}`,
      );
    }
  }
}

async function copyAll(client: pg.Client, { contents, open, onTable }: Load): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const table of contents.tables) {
    onTable?.(table);
    const columns = table.columns.map((column) => client.escapeIdentifier(column)).join(', ');
    const sink = client.query(copyFrom(`COPY ${client.escapeIdentifier(table.name)} (${columns}) FROM STDIN`));
    await pipeline(Readable.from(open(table)), sink);
    counts[table.name] = sink.rowCount ?? 0;
  }
  return counts;
}

async function setSequence(client: pg.Client, { table, column, lastValue, isCalled }: SequenceState): Promise<void> {
  await client.query('SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), $3::bigint, $4)', [
    table,
    column,
    lastValue,
    isCalled,
  ]);
}

/**
 * Makes PostgreSQL collect the statistics of all tables. A load does not create statistics, and without them many queries would be slow.
 */
export async function collectStatistics(db: Database): Promise<void> {
  await sql`ANALYZE`.execute(db);
}
