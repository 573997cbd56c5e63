import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readInstalledMajor } from './binaries.ts';
import { EmbeddedPostgresError, ifAbsent } from './failure.ts';
import { checkDataDir, findDatabase, PASSWORD_FILE } from './location.ts';
import { refuseMoved } from './move-marker.ts';
import { findPostmaster } from './postmaster.ts';
import { databaseUrl } from './server.ts';

/** Embedded database as it was found in DATA_DIR. */
export interface EmbeddedState {
  /** PostgreSQL's data directory. */
  clusterDir: string;
  /** Major version of the PostgreSQL that the data belongs to, such as 18. */
  dataMajor: number;
  /** Major version of the PostgreSQL that npm has installed. Only data of this version can be used. */
  installedMajor: number;
  /** Connection string of the running database, which contains its password. Null if PostgreSQL does not run. */
  url: string | null;
}

/**
 * Finds out if DATA_DIR contains a database, and if PostgreSQL runs. Creates, starts and changes nothing.
 * @returns null if DATA_DIR has no database yet
 * @throws EmbeddedPostgresError if DATA_DIR cannot be used, if its data was moved to another database, or if no PostgreSQL is installed
 */
export async function inspectEmbedded(dataDir: string): Promise<EmbeddedState | null> {
  const installedMajor = await readInstalledMajor();
  await checkDataDir(dataDir);
  const found = await findDatabase(dataDir);
  const version = found && (await readFile(join(found.clusterDir, 'PG_VERSION'), 'utf8').catch(ifAbsent));
  if (found === undefined || version === undefined) {
    return null;
  }
  await refuseMoved(dataDir);
  const password = await readFile(join(dataDir, PASSWORD_FILE), 'utf8').catch(ifAbsent);
  if (password === undefined) {
    throw new EmbeddedPostgresError(
      `${dataDir} contains a database, but the file ${PASSWORD_FILE} with its password is missing. Restore the file.`,
    );
  }
  const isReady = (await findPostmaster(found.clusterDir))?.isReady === true;
  return {
    clusterDir: found.clusterDir,
    dataMajor: Number.parseInt(version, 10),
    installedMajor,
    url: isReady ? databaseUrl({ location: found, password: password.trim() }) : null,
  };
}
