import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type Database, type DB, readLayout, types, withDatabase } from '../db/database.ts';
import { compareMigrations, migrateToLatest, readMigrations, refuseEmpty } from '../db/migrate.ts';
import { refuseUnfit } from '../db/requirements.ts';
import { localSettings, newClient } from '../db/session.ts';
import { OperatorError } from '../errors.ts';
import { hasPooler } from '../lib/postgres-url.ts';
import { type Contents, readTables, type TableShape, TRANSIENT_TABLES } from './contents.ts';
import { type CopySource, type CopyTarget, type Digests, findDifference, type Progress, RowDigest } from './copy.ts';

export interface DatabaseSource extends CopySource {
  /** Time just before the snapshot, so the snapshot has all that was committed until then. */
  takenAt: Date;
  /** Migrations of a newer version. A copy lacks the tables and columns that they have added. */
  newer: string[];
  close(): Promise<void>;
}

/** Opens a database for reading under one snapshot. @throws OperatorError if it has no tables of Roomservice, or is a cluster */
export async function openDatabaseSource(url: string): Promise<DatabaseSource> {
  const client = await connectForCopy(url);
  const db = databaseOn(client);
  const close = () => client.end();
  try {
    if ((await readLayout(db)) === 'cluster') {
      throw new OperatorError(
        'The database is a cluster (Citus), and no snapshot covers all its nodes. Back up each node with the tools of PostgreSQL, for example pg_basebackup.',
      );
    }
    await refuseEmpty(db, 'The database');
    const takenAt = new Date();
    await beginCopy(client, url, 'REPEATABLE READ READ ONLY');
    const { applied: migrations, newer } = await compareMigrations(db);
    const contents = { migrations, tables: await readTables(client) };
    return { contents, takenAt, newer, read: (table) => readRows(client, table), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** Tables with rows from a migration, each with a condition that is true while such a row is unchanged. */
const SEEDED_TABLES: Readonly<Record<string, string>> = { feed_era: 'era = 0' };

/** Name of the only table whose ids a sequence gives. After a copy, the sequence goes on after the largest id. */
const NUMBERED_TABLE = 'tenant';

export class NotEmptyError extends OperatorError {
  constructor(reason: string) {
    super(`The database is not empty: ${reason}. Choose a new database, or another DATA_DIR. Nothing was changed.`);
  }
}

/**
 * Returns the empty database of a URL as the target of a copy, which keeps no row unless all are equal. `beforeCommit` begins no
 * transaction.
 */
export function emptyDatabase(
  url: string,
  beforeCommit: (db: Database, digests: Digests) => Promise<void> = async () => {},
): CopyTarget {
  return {
    async load(contents, tables, digests, progress) {
      const client = await connectForCopy(url);
      try {
        await refuseOther(client, contents);
        await migrate(url, contents.migrations);
        await beginCopy(client, url, 'READ COMMITTED READ WRITE');
        await claim(client, contents);
        for await (const { rows, ...table } of tables) {
          await pipeline(Readable.from(rows), client.query(copyFrom(`COPY ${copyName(client, table)} FROM STDIN`)));
        }
        await compare(client, contents.tables, digests, progress);
        await client.query(
          `SELECT setval(pg_get_serial_sequence('${NUMBERED_TABLE}', 'id'), max(id)) FROM ${NUMBERED_TABLE} HAVING count(*) > 0`,
        );
        await beforeCommit(databaseOn(client), digests);
        await client.query('COMMIT');
      } finally {
        await client.end().catch(() => {});
      }
      await migrate(url);
    },
  };
}

/** Applies migrations, by default all missing ones, without a time limit. */
export async function migrate(url: string, only?: string[]): Promise<void> {
  await withDatabase({ url, poolSize: 2 }, async (db) => {
    await refuseUnfit(db);
    await migrateToLatest(db, only === undefined ? {} : { only: new Set(only) });
  });
}

async function refuseOther(client: pg.Client, contents: Contents): Promise<void> {
  const db = databaseOn(client);
  if ((await readLayout(db)) === 'cluster') {
    throw new OperatorError('The database is a cluster (Citus). Load the data into a database on one node.');
  }
  await refuseRows(client, contents);
  const more = [...(await readMigrations(db))].filter((name) => !contents.migrations.includes(name));
  if (more.length > 0) {
    throw new NotEmptyError(`it has migrations that the data does not have (${more.join(', ')})`);
  }
}

/** The second of two concurrent copies waits for these locks, finds the rows of the first, and is refused. */
async function claim(client: pg.Client, contents: Contents): Promise<void> {
  const names = contents.tables.map(({ name }) => client.escapeIdentifier(name));
  await client.query(`LOCK TABLE ${names.join(', ')} IN EXCLUSIVE MODE`);
  await refuseRows(client, contents);
  for (const { name } of contents.tables.filter((table) => table.name in SEEDED_TABLES)) {
    await client.query(`DELETE FROM ${client.escapeIdentifier(name)}`);
  }
}

async function refuseRows(client: pg.Client, { tables }: Contents): Promise<void> {
  const { rows: relations } = await client.query<{ name: string }>(`
    SELECT CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END AS name
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
    ORDER BY name`);
  for (const { name } of relations) {
    if (name in TRANSIENT_TABLES || name === 'kysely_migration') {
      continue;
    }
    if (!tables.some((table) => table.name === name)) {
      throw new NotEmptyError(`it contains the table or view ${name}`);
    }
    const seeded = SEEDED_TABLES[name];
    const condition = seeded === undefined ? '' : `WHERE NOT (${seeded})`;
    const { rows } = await client.query(`SELECT FROM ${client.escapeIdentifier(name)} ${condition} LIMIT 1`);
    if (rows.length > 0) {
      throw new NotEmptyError(`there are rows in ${name}`);
    }
  }
}

/** The number of rows that COPY reports is not enough, because a trigger or a rule may drop or change a row after COPY has read it. */
async function compare(client: pg.Client, tables: TableShape[], digests: Digests, progress: Progress): Promise<void> {
  const copied: Digests = {};
  for (const table of tables) {
    progress(`Comparing ${table.name} …`);
    const digest = new RowDigest();
    for await (const text of readRows(client, table)) {
      digest.add(text);
    }
    copied[table.name] = digest.end();
  }
  const name = findDifference(copied, digests);
  if (name !== null) {
    throw new OperatorError(
      `The copy of the table ${name} differs from the old table (copy: ${copied[name]?.rows ?? 0} rows, old table: ${digests[name]?.rows ?? 0} rows). ` +
        'The copy was rolled back, and the old data is unchanged. Run the command again.',
    );
  }
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Opens a connection outside the pool, because a stream of COPY needs the connection for itself. */
async function connectForCopy(url: string): Promise<pg.Client> {
  const client = newClient(url, {
    application_name: 'roomservice copy',
    hasNoTimeLimit: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  try {
    await client.connect();
  } catch (error) {
    // The client of pg never ends if the server has refused the TLS handshake. So this function does not wait for the end.
    void client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Begins a transaction that copies tables, without a time limit. The client must be connected to the URL. */
async function beginCopy(client: pg.Client, url: string, mode: string): Promise<void> {
  await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
  if (hasPooler(url)) {
    await client.query(localSettings({ hasNoTimeLimit: true }));
  }
}

function copyName(client: pg.Client, { name, columns }: TableShape): string {
  return `${client.escapeIdentifier(name)} (${columns.map((column) => client.escapeIdentifier(column)).join(', ')})`;
}

/** Streams the rows of a table. The client cannot run another statement until the stream has ended. */
function readRows(client: pg.Client, table: TableShape): AsyncIterable<Buffer> {
  return client.query(copyTo(`COPY ${copyName(client, table)} TO STDOUT`));
}

/** Returns a database on this connection and its open transaction. The caller must not destroy it, and not begin a transaction. */
function databaseOn(client: pg.Client): Database {
  // Kysely calls `release`, which this client does not have, and pg keeps its state in fields of the client.
  const lent = { query: client.query.bind(client), release: () => {} };
  return new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => Promise.resolve(lent as never), end: () => Promise.resolve() },
    }),
  });
}
