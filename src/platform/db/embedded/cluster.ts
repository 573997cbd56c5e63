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
/** The only environment variables that the PostgreSQL programs get, so that the settings of the user do not affect them. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

interface Initialisation {
  binaries: string;
  password: string;
  sync: boolean;
  log: (message: string) => void;
}

/**
 * Returns true if DATA_DIR contains the file with the database password. The password is made before the database. So if the file is
 * missing, no database was ever opened in DATA_DIR.
 */
export async function hasPassword(dataDir: string): Promise<boolean> {
  return (await readPassword(dataDir)) !== undefined;
}

/** Reads the password of the PostgreSQL role. Returns undefined if its file is missing. */
export async function readPassword(dataDir: string): Promise<string | undefined> {
  return (await readFile(join(dataDir, PASSWORD_FILE), 'utf8').catch(ifAbsent))?.trim();
}

/** Reads the password of the PostgreSQL role. The first start makes it, as 256 random bits in a file in DATA_DIR with mode 0600. */
export async function readOrMakePassword(dataDir: string): Promise<string> {
  const existing = await readPassword(dataDir);
  if (existing !== undefined) {
    return existing;
  }
  await writeNewFile(join(dataDir, PASSWORD_FILE), randomBytes(32).toString('base64url'));
  return await readOrMakePassword(dataDir);
}

/** Refuses a DATA_DIR that contains no database. @throws EmbeddedPostgresError */
export async function refuseMissing(dataDir: string): Promise<void> {
  const found = (await hasPassword(dataDir)) ? await findDatabase(dataDir) : undefined;
  if (found === undefined || (await readMajor(found.clusterDir)) === undefined) {
    throw new EmbeddedPostgresError(`There is no database in ${resolve(dataDir)} (DATA_DIR). ${NO_DATABASE}`);
  }
}

/**
 * Makes PostgreSQL's data directory if it is missing. If another user owns the directory, for example because root has copied it, makes
 * PostgreSQL's system user its owner.
 */
export async function prepareCluster({ clusterDir, account }: Location, options: Initialisation): Promise<void> {
  await createWhole(clusterDir, 'PG_VERSION', async (unfinished) => {
    options.log(`Creating the database in ${dirname(clusterDir)}.`);
    await runInitdb(unfinished, account, options);
  });
  if (account !== undefined && (await stat(clusterDir)).uid !== account.uid) {
    await chownTree(clusterDir, account);
  }
}

async function runInitdb(folder: string, account: Location['account'], options: Initialisation): Promise<void> {
  // `createWhole` removes every path that begins with the temporary name of the folder, and so this file too.
  const passwordFile = `${folder}.password`;
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  if (account !== undefined) {
    await chown(passwordFile, account.uid, account.gid);
    await chown(folder, account.uid, account.gid);
  }
  const args = ['--pgdata', folder, '--username', NAME, '--pwfile', passwordFile, '--no-instructions'];
  args.push('--auth-local=scram-sha-256', '--auth-host=scram-sha-256');
  args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  if (!options.sync) {
    args.push('--no-sync');
  }
  try {
    await promisify(execFile)(join(options.binaries, 'bin/initdb'), args, { cwd: '/', env: ENVIRONMENT, ...account });
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    const remedy = reason.includes('could not look up effective user ID')
      ? '. PostgreSQL needs an entry for this user in /etc/passwd. Add one, or run the service as a user that has one, or set DATABASE_URL.'
      : '';
    const parent = dirname(folder);
    throw programError(`The database could not be created in ${parent}`, reason + remedy, parent, error);
  }
}
