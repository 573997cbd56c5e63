import { createHash } from 'node:crypto';
import {
  access,
  chown,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, ifAbsent, OperatorError } from '../failures.ts';
import { type Account, canEnter, chooseAccount } from './files.ts';

export interface Location {
  dataDir: string;
  /** PostgreSQL's data directory. It is inside DATA_DIR, or the link `postgres` in DATA_DIR points to it. */
  clusterDir: string;
  socketDir: string;
  account: Account | undefined;
}

export const PASSWORD_FILE = 'postgres-password';
const CLUSTER_NAME = 'postgres';
const FALLBACK_DIR = '/var/lib/roomservice';
const RIGHTS = constants.R_OK | constants.W_OK | constants.X_OK;
/** Largest length of the socket's path in bytes. It is below the limits of the systems, which are 104 bytes on macOS and 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 90;

/** Creates DATA_DIR, and chooses the folder of the database, which is elsewhere if PostgreSQL's system user cannot enter DATA_DIR. */
export async function locate(path: string, log: (message: string) => void): Promise<Location> {
  const dataDir = await createDataDir(path);
  const existing = await findCluster(dataDir);
  const account = await chooseAccount(existing);
  const clusterDir = existing ?? (await placeCluster(dataDir, account));
  if (dirname(clusterDir) !== dataDir) {
    log(`The database of ${dataDir} is in ${dirname(clusterDir)}.`);
  }
  return { dataDir, clusterDir, socketDir: socketDirOf(clusterDir), account };
}

/** Finds the database of DATA_DIR and its socket. Changes nothing. @throws OperatorError if this process cannot use DATA_DIR */
export async function findDatabase(path: string): Promise<Pick<Location, 'clusterDir' | 'socketDir'> | undefined> {
  const dataDir = await usable(path)
    .catch(ifAbsent)
    .catch((error: unknown) => {
      throw cannotUse(path, error);
    });
  const clusterDir = dataDir && (await findCluster(dataDir));
  return clusterDir === undefined ? undefined : { clusterDir, socketDir: socketDirOf(clusterDir) };
}

async function usable(folder: string): Promise<string> {
  await readdir(folder);
  await access(folder, RIGHTS);
  return await realpath(folder);
}

function cannotUse(dataDir: string, error: unknown): OperatorError {
  return new OperatorError(
    `DATA_DIR ${dataDir} cannot be used (${codeOf(error)}). It must be a folder that this process may write to.`,
    { cause: error },
  );
}

async function createDataDir(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Of processes that start together, the one that made the folder may not have handed it over yet.
    const account = (await readdir(folder)).length > 0 ? undefined : await chooseAccount(undefined);
    if (account !== undefined && (await canEnter(account, dirname(folder)))) {
      await chown(folder, account.uid, account.gid);
    }
    return await usable(folder);
  } catch (error) {
    throw error instanceof OperatorError ? error : cannotUse(folder, error);
  }
}

async function findCluster(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, CLUSTER_NAME);
  const entry = await lstat(path).catch(ifAbsent);
  if (!entry?.isSymbolicLink()) {
    return entry === undefined ? undefined : path;
  }
  const target = resolve(dataDir, await readlink(path));
  if ((await stat(dirname(target)).catch(ifAbsent)) === undefined) {
    throw new OperatorError(
      `The link ${path} points to the database in ${target}, but the folder ${dirname(target)} is missing. ` +
        'Restore that folder, or remove DATA_DIR to start with an empty database.',
    );
  }
  return target;
}

async function placeCluster(dataDir: string, account: Account | undefined): Promise<string> {
  const inside = join(dataDir, CLUSTER_NAME);
  return account === undefined || (await canEnter(account, dataDir)) ? inside : placeOutside(inside, account);
}

async function placeOutside(link: string, account: Account): Promise<string> {
  await mkdir(FALLBACK_DIR, { recursive: true, mode: 0o755 });
  const folder = await mkdtemp(join(FALLBACK_DIR, `${shortHash(dirname(link))}-`));
  await chown(folder, account.uid, account.gid);
  const target = join(folder, CLUSTER_NAME);
  try {
    await symlink(target, link);
    return target;
  } catch (error) {
    await rm(folder, { recursive: true });
    unless('EEXIST')(error);
    return resolve(await readlink(link)); // Another process has started at the same time and made the link first.
  }
}

/** Returns the folder of the Unix socket. Its path does not depend on TMPDIR, because all processes must find the same socket. */
function socketDirOf(clusterDir: string): string {
  const beside = join(dirname(clusterDir), 'socket');
  const isShort = Buffer.byteLength(join(beside, '.s.PGSQL.5432')) <= MAX_SOCKET_PATH_BYTES;
  return isShort ? beside : join('/tmp', `roomservice-${shortHash(clusterDir)}`);
}

/** Makes the folder of the socket. @throws OperatorError if another user may enter it, and so pretend to be the database */
export async function prepareSocketDir({ socketDir, account }: Location): Promise<void> {
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(socketDir);
  if (account !== undefined && uid === 0) {
    await chown(socketDir, account.uid, account.gid);
  } else if (uid !== (account?.uid ?? process.getuid?.()) || (mode & 0o170077) !== constants.S_IFDIR) {
    throw new OperatorError(
      `${socketDir} must be a folder that belongs to the user of PostgreSQL, and no other user may have rights to it. Remove it, and start the service again.`,
    );
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function unless(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(codeOf(error))) {
      throw error;
    }
  };
}
