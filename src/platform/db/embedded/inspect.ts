import { readInstalledMajor } from './binaries.ts';
import { readMajor, readPassword, refuseOtherMajor } from './cluster.ts';
import { databaseUrl } from './embedded.ts';
import { EmbeddedPostgresError } from './failure.ts';
import { findDatabase, PASSWORD_FILE } from './location.ts';
import { refuseMoved } from './move-marker.ts';
import { findPostmaster } from './postmaster.ts';

/** Finds the database in DATA_DIR, or null, and its PostgreSQL. Changes nothing. @throws EmbeddedPostgresError if it cannot be used */
export async function inspectEmbedded(dataDir: string): Promise<{ major: number; url: string | null } | null> {
  await readInstalledMajor(); // Throws if npm has installed no PostgreSQL, even if DATA_DIR has no data yet.
  const found = await findDatabase(dataDir);
  const major = found && (await readMajor(found.clusterDir));
  if (found === undefined || major === undefined) {
    return null;
  }
  await refuseMoved(dataDir);
  await refuseOtherMajor(found.clusterDir);
  const password = await readPassword(dataDir);
  if (password === undefined) {
    throw new EmbeddedPostgresError(
      `${dataDir} contains a database, but the file ${PASSWORD_FILE} with its password is missing. Restore the file.`,
    );
  }
  const isReady = (await findPostmaster(found.clusterDir))?.isReady === true;
  return { major, url: isReady ? databaseUrl({ location: found, password }) : null };
}
