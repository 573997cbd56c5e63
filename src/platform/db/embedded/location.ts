import type { Stats } from 'node:fs';
import { createHash } from 'node:crypto';
import {
  access,
  chmod,
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
import { type Account, canEnter, chooseAccount } from './account.ts';
import { codeOf, EmbeddedPostgresError, ifAbsent } from './failure.ts';

export interface Location {
  /** Real path of DATA_DIR, which holds the password whatever happens. */
  dataDir: string;
  /** PostgreSQL's data directory: inside DATA_DIR, or where the link `postgres` in it points to. */
  clusterDir: string;
  /** Folder of the Unix socket. */
  socketDir: string;
  /** Whom PostgreSQL runs as; undefined: as ourselves. */
  account: Account | undefined;
}

export const PASSWORD_FILE = 'postgres-password';
const CLUSTER_NAME = 'postgres';
const ELSEWHERE = '/var/lib/roomservice';
/** A socket's path is limited to 104 bytes on macOS and 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 90;

/**
 * Creates DATA_DIR (mode 0700) where it is missing and decides where the database lives. Where PostgreSQL's account
 * cannot enter DATA_DIR (root's home, a 0700 folder), that is a new folder under /var/lib/roomservice, and a link in
 * DATA_DIR says which: so the choice, once made, holds, also when DATA_DIR is moved, and a new DATA_DIR never meets
 * an old database.
 * @throws EmbeddedPostgresError where DATA_DIR cannot be used
 */
export async function locate(path: string, log: (message: string) => void): Promise<Location> {
  const dataDir = await createDataDir(path);
  const existing = await findCluster(dataDir);
  const account = await chooseAccount(existing);
  const clusterDir = existing ?? (await placeCluster(dataDir, account));
  if (dirname(clusterDir) !== dataDir) {
    log(`The database of ${dataDir} lives under ${dirname(clusterDir)}.`);
  }
  return { dataDir, clusterDir, socketDir: socketDirOf(clusterDir), account };
}

async function createDataDir(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder, { mode: 0o700 }).catch((error) => {
      if (codeOf(error) !== 'EEXIST') {
        throw error;
      }
    });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(folder);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `DATA_DIR ${folder} cannot be used (${codeOf(error)}): it must be a folder that this process may write to.`,
      { cause: error },
    );
  }
}

async function findCluster(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, CLUSTER_NAME);
  const entry = await lstat(path).catch(ifAbsent);
  if (!entry?.isSymbolicLink()) {
    return entry && path;
  }
  const target = resolve(dataDir, await readlink(path));
  if ((await stat(dirname(target)).catch(ifAbsent)) === undefined) {
    throw new EmbeddedPostgresError(
      `The database should be at ${target}, where ${path} points to, but that folder is gone. ` +
        'Bring it back, or remove DATA_DIR to start with an empty database.',
    );
  }
  return target;
}

async function placeCluster(dataDir: string, account: Account | undefined): Promise<string> {
  const inside = join(dataDir, CLUSTER_NAME);
  if (account === undefined) {
    await makePrivate(dataDir, undefined);
    return inside;
  }
  if (await canEnter(account, dirname(dataDir))) {
    await makePrivate(dataDir, account);
  }
  return (await canEnter(account, dataDir)) ? inside : placeElsewhere(inside, account);
}

async function placeElsewhere(link: string, account: Account): Promise<string> {
  await mkdir(ELSEWHERE, { recursive: true, mode: 0o755 });
  const folder = await mkdtemp(join(ELSEWHERE, `${shortHash(dirname(link))}-`));
  await chown(folder, account.uid, account.gid);
  const target = join(folder, CLUSTER_NAME);
  try {
    await symlink(target, link);
    return target;
  } catch (error) {
    await rm(folder, { recursive: true });
    if (codeOf(error) !== 'EEXIST') {
      throw error;
    }
    return resolve(await readlink(link)); // another process, starting at the same moment, was faster
  }
}

/**
 * Mode 0700, and PostgreSQL's account as the owner, for a folder that is ours: one that we have used before, or that
 * holds nothing but private files such as keys. A DATA_DIR of `.` or `/srv` must not lock everybody else out of it.
 */
async function makePrivate(dataDir: string, account: Account | undefined): Promise<void> {
  const names = await readdir(dataDir);
  // What a process that starts at the same moment has only just written and moved away is gone by now.
  const entries = await Promise.all(names.map((name) => lstat(join(dataDir, name)).catch(ifAbsent)));
  const isPrivate = (entry: Stats | undefined) => entry === undefined || (entry.isFile() && !(entry.mode & 0o077));
  const isOurs = names.includes(PASSWORD_FILE) || entries.every(isPrivate);
  if (!isOurs) {
    return;
  }
  if (account !== undefined) {
    await chown(dataDir, account.uid, account.gid);
  }
  await chmod(dataDir, 0o700).catch((error) => {
    // A mounted volume may belong to root and be ours through its group alone. What we put into it is private by
    // itself.
    if (codeOf(error) !== 'EPERM') {
      throw error;
    }
  });
}

/** The same for every process, whatever its TMPDIR, because each must find the socket of the others' PostgreSQL. */
function socketDirOf(clusterDir: string): string {
  const beside = join(dirname(clusterDir), 'socket');
  const isShort = Buffer.byteLength(join(beside, '.s.PGSQL.5432')) <= MAX_SOCKET_PATH_BYTES;
  return isShort ? beside : join('/tmp', `roomservice-${shortHash(clusterDir)}`);
}

/**
 * Makes the socket's folder where it is missing: mode 0700, owned by PostgreSQL's account.
 * @throws EmbeddedPostgresError where somebody else has made a folder of that name, who could then pose as our database
 */
export async function prepareSocketDir({ socketDir, account }: Location): Promise<void> {
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(socketDir);
  if (account !== undefined && uid === 0) {
    await chown(socketDir, account.uid, account.gid);
  } else if (uid !== (account?.uid ?? process.getuid?.()) || (mode & 0o170077) !== constants.S_IFDIR) {
    throw new EmbeddedPostgresError(
      `${socketDir} is not a private folder of PostgreSQL's own account. Remove it and start again.`,
    );
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
