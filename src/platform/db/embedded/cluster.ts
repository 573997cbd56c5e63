import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { writeNewFile } from '../../lib/new-file.ts';
import { ifAbsent, OperatorError } from '../failures.ts';
import { readInstalledMajor } from './binaries.ts';
import { chownTree, createWhole } from './files.ts';
import { findDatabase, type Location, PASSWORD_FILE } from './location.ts';

export const NO_DATABASE =
  'Set DATA_DIR or DATABASE_URL to the value that the service uses. If this is the first use, run "roomservice migrate" first.';
export const NAME = 'roomservice';
/** The only environment variables that the PostgreSQL programs get, so that the settings of the user do not affect them. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

interface Initialisation {
  binaries: string;
  password: string;
  sync: boolean;
  log: (message: string) => void;
}

/** Reads the password of the role. Undefined: no database was ever opened in DATA_DIR, because the password is made before it. */
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

export async function refuseMissing(dataDir: string): Promise<void> {
  const found = (await readPassword(dataDir)) === undefined ? undefined : await findDatabase(dataDir);
  if (found === undefined || (await readMajor(found.clusterDir)) === undefined) {
    throw new OperatorError(`There is no database in ${resolve(dataDir)} (DATA_DIR). ${NO_DATABASE}`);
  }
}

export async function readMajor(clusterDir: string): Promise<number | undefined> {
  const text = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(ifAbsent);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/** Refuses a database of another major version. @throws OperatorError that says how to bring the data to this version */
export async function refuseOtherMajor(clusterDir: string): Promise<void> {
  const found = await readMajor(clusterDir);
  const own = await readInstalledMajor();
  if (found !== undefined && found !== own) {
    const remedy =
      found > own
        ? 'Install the newer version of Roomservice again.'
        : 'Run "roomservice backup" with the version of Roomservice that you used before. Then run "roomservice restore" with this version ' +
          'and an empty DATA_DIR.';
    throw new OperatorError(
      `PostgreSQL ${found} made the database in ${clusterDir}, but this version of Roomservice has PostgreSQL ${own}. ${remedy} Nothing was changed.`,
    );
  }
}

/** Makes PostgreSQL's data directory if it is missing. Makes its system user the owner, for example if root has copied it. */
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

/** Creates the error of a program of PostgreSQL that has printed `output` and failed. `what` is a sentence without a full stop. */
export function programError(what: string, output: string, folder: string, cause?: unknown): OperatorError {
  const message = output.includes('No space left on device')
    ? `The disk with the database in ${folder} is full. Free some space there, and run the command again.`
    : `${what}: ${output}`;
  return new OperatorError(message, { cause });
}
