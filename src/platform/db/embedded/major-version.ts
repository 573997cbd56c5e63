import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readInstalledMajor } from './binaries.ts';
import { EmbeddedPostgresError, ifAbsent } from './failure.ts';

/** Reads the major version of the PostgreSQL that made a data directory, for example 17. Returns undefined if there is no database yet. */
export async function readMajor(clusterDir: string): Promise<number | undefined> {
  const text = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(ifAbsent);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/**
 * Refuses a database that a PostgreSQL of another major version has made, even if that PostgreSQL runs already.
 * @throws EmbeddedPostgresError that says how to bring the data to this version
 */
export async function refuseOtherMajor(clusterDir: string): Promise<void> {
  const found = await readMajor(clusterDir);
  if (found === undefined) {
    return;
  }
  const own = await readInstalledMajor();
  if (found > own) {
    throw new EmbeddedPostgresError(
      `PostgreSQL ${found} made the database in ${clusterDir}, but this version of Roomservice has PostgreSQL ${own}. ` +
        'Install the newer version of Roomservice again. Nothing was changed.',
    );
  }
  if (found < own) {
    throw new EmbeddedPostgresError(
      `PostgreSQL ${found} made the database in ${clusterDir}, but this version of Roomservice has PostgreSQL ${own}. ` +
        'Run "roomservice backup" with the version of Roomservice that you used before. Then run "roomservice restore" with this version ' +
        'and an empty DATA_DIR. Nothing was changed.',
    );
  }
}
