import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { OperatorError } from '../errors.ts';
import type { Database } from './database.ts';
import { NO_DATABASE } from './embedded/failure.ts';
import { type Contents, findMigrations, readContents, type TableShape } from './transfer-contents.ts';
import { refuseNewer } from './transfer-newer.ts';
import { beginTransfer, connectForTransfer, databaseOn } from './transfer-session.ts';

export interface TransferSource {
  contents: Contents;
  /** Estimated number of rows of each table, for messages about progress. -1: PostgreSQL has no estimate yet. */
  estimates: ReadonlyMap<string, number>;
  /** Streams the rows of a table in the text format of COPY. Only one stream may be open at a time. */
  read: (table: TableShape) => AsyncIterable<Buffer>;
  /**
   * Database whose statements read the same snapshot as the streams. The caller must not use it while a stream is open, and must not
   * destroy it.
   */
  db: Database;
  /** Ends the transaction. */
  close: () => Promise<void>;
}

/**
 * Opens a database for reading, and takes one snapshot of it. All later reads see this snapshot, even if other processes write in the
 * meantime.
 * @throws OperatorError if the database has no tables of Roomservice, is a cluster, or was migrated by a newer version, whose tables this
 * version does not know
 */
export async function openSource(url: string): Promise<TransferSource> {
  const client = await connectForTransfer(url);
  const close = () => client.end();
  try {
    await refuseUnusable(client);
    await beginTransfer(client, url, 'REPEATABLE READ READ ONLY');
    const contents = await readContents(client);
    const estimates = await readEstimates(client);
    await refuseNewer(contents);
    return { contents, estimates, read: (table) => readRows(client, table), db: databaseOn(client), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function refuseUnusable(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
  if (rows.length > 0) {
    throw new OperatorError(
      'The database is a cluster (Citus), and no snapshot covers all its nodes. Back up each node with the tools of PostgreSQL, for example pg_basebackup.',
    );
  }
  if ((await findMigrations(client)) === null) {
    throw new OperatorError(`The database has no tables of Roomservice. ${NO_DATABASE}`);
  }
}

async function readEstimates(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; rows: number }>(
    `SELECT relname AS name, reltuples::float8 AS rows FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
  );
  return new Map(rows.map(({ name, rows: estimate }) => [name, estimate]));
}

function readRows(client: pg.Client, { name, columns }: TableShape): AsyncIterable<Buffer> {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  return client.query(copyTo(`COPY ${client.escapeIdentifier(name)} (${list}) TO STDOUT`));
}
