import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, ifAbsent, NO_DATABASE, programError } from './failure.ts';
import { writeNewFile } from '../../lib/new-file.ts';
import { chownTree, createWhole } from './files.ts';
import { findDatabase, type Location, PASSWORD_FILE } from './location.ts';
import { readMajor } from './major-version.ts';

/** Name of the only role in PostgreSQL, and name of the application's database. */
export const NAME = 'roomservice';
/**
 * The only environment variables that the PostgreSQL programs get. So the locale of the system, and variables that the user has set for
 * another PostgreSQL, do not affect the programs.
 */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * Returns true if DATA_DIR contains the file with the database password. The password is made before the database. So if the file is
 * missing, no database was ever opened in DATA_DIR.
 */
export async function hasPassword(dataDir: string): Promise<boolean> {
  return (await readFile(join(dataDir, PASSWORD_FILE)).catch(ifAbsent)) !== undefined;
}

/** Refuses a DATA_DIR that contains no database. @throws EmbeddedPostgresError */
export async function refuseMissing(dataDir: string): Promise<void> {
  if (!(await hasPassword(dataDir)) || !(await hasCluster(dataDir))) {
    throw new EmbeddedPostgresError(`There is no database in ${resolve(dataDir)} (DATA_DIR). ${NO_DATABASE}`);
  }
}

async function hasCluster(dataDir: string): Promise<boolean> {
  const found = await findDatabase(dataDir);
  return found !== undefined && (await readMajor(found.clusterDir)) !== undefined;
}

/** Reads the password of the PostgreSQL role. The first start makes it, as 256 random bits in a file in DATA_DIR with mode 0600. */
export async function readOrMakePassword(dataDir: string): Promise<string> {
  const file = join(dataDir, PASSWORD_FILE);
  const existing = await readFile(file, 'utf8').catch(ifAbsent);
  if (existing !== undefined) {
    return existing.trim();
  }
  await writeNewFile(file, randomBytes(32).toString('base64url'));
  return readOrMakePassword(dataDir);
}

/**
 * Makes PostgreSQL's data directory if it is missing. If another user owns the directory, for example because root has copied it, makes
 * PostgreSQL's system user its owner.
 */
export async function prepareCluster(
  location: Location,
  initialise: { binaries: string; password: string; sync: boolean; log: (message: string) => void },
): Promise<void> {
  const { clusterDir, account } = location;
  await createWhole(clusterDir, 'PG_VERSION', async (unfinished) => {
    initialise.log(`Creating the database in ${dirname(clusterDir)}.`);
    await runInitdb({ ...initialise, folder: unfinished, account });
  });
  if (account !== undefined && (await stat(clusterDir)).uid !== account.uid) {
    await chownTree(clusterDir, account);
  }
}

interface InitdbOptions {
  binaries: string;
  folder: string;
  password: string;
  sync: boolean;
  account: Location['account'];
}

async function runInitdb({ binaries, folder, password, sync, account }: InitdbOptions): Promise<void> {
  // `folder` is a temporary folder, which `createWhole` renames when the folder is complete. Then `createWhole` removes every path that
  // begins with the temporary name, and so removes this file too.
  const passwordFile = `${folder}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account !== undefined) {
    await chown(passwordFile, account.uid, account.gid);
    await chown(folder, account.uid, account.gid);
  }
  const args = ['--pgdata', folder, '--username', NAME, '--pwfile', passwordFile, '--no-instructions'];
  args.push('--auth-local=scram-sha-256', '--auth-host=scram-sha-256');
  args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  if (!sync) {
    args.push('--no-sync');
  }
  try {
    await promisify(execFile)(join(binaries, 'bin/initdb'), args, { cwd: '/', env: ENVIRONMENT, ...account });
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    const remedy = reason.includes('could not look up effective user ID')
      ? '. PostgreSQL needs an entry for this user in /etc/passwd. Add one, or run the service as a user that has one, or set DATABASE_URL.'
      : '';
    throw programError(
      `The database could not be created in ${dirname(folder)}`,
      reason + remedy,
      dirname(folder),
      error,
    );
  }
}
