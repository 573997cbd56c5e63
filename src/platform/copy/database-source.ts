import { readLayout } from '../db/database.ts';
import { compareMigrations, refuseEmpty } from '../db/migrate.ts';
import { OperatorError } from '../errors.ts';
import { readContents } from './contents.ts';
import type { CopySource } from './copy.ts';
import { beginCopy, connectForCopy, databaseOn, readRows } from './session.ts';

interface DatabaseSource extends CopySource {
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
    const contents = await readContents(client, db);
    const { newer } = await compareMigrations(db);
    return { contents, takenAt, newer, read: (table) => readRows(client, table), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}
