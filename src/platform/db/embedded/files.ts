import { execFile } from 'node:child_process';
import { lchown, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { exists } from '../../lib/new-file.ts';
import { ifAbsent, OperatorError } from '../failures.ts';

/** System user under which PostgreSQL runs. It is needed only if this process is root, because PostgreSQL refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

/** Returns the owner of an existing database, or else `postgres` or `nobody`. Undefined: this process is not root. */
export async function chooseAccount(clusterDir: string | undefined): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const owner = clusterDir === undefined ? undefined : await stat(clusterDir).catch(ifAbsent);
  return owner !== undefined && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : findUnprivilegedUser();
}

async function findUnprivilegedUser(): Promise<Account> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((user) => user[0] === name) ?? [];
    if (uid !== undefined && gid !== undefined) {
      // macOS gives the user nobody the id -2. The system calls need that id as an unsigned number.
      return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    }
  }
  throw new OperatorError(
    'PostgreSQL refuses to run as root, and this system has no user "postgres" or "nobody". ' +
      'Run the service as an ordinary user, or set DATABASE_URL.',
  );
}

/** Returns true if the system user can enter a folder. Its mode is not enough, because mounts and access lists may also forbid it. */
export function canEnter(account: Account, folder: string): Promise<boolean> {
  return succeedsAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]);
}

export function succeedsAs(account: Account, file: string, args: string[]): Promise<boolean> {
  return promisify(execFile)(file, args, { cwd: '/', env: {}, ...account }).then(
    () => true,
    () => false,
  );
}

/** Creates a folder completely or not at all, also if several processes do so. @param witness file that only a complete folder has */
export async function createWhole(
  target: string,
  witness: string,
  build: (unfinished: string) => Promise<void>,
): Promise<void> {
  const isComplete = () => exists(join(target, witness));
  const prefix = `${target}.unfinished-`;
  if (!(await isComplete())) {
    const unfinished = await mkdtemp(prefix);
    try {
      await build(unfinished);
      await rename(unfinished, target);
    } catch (error) {
      if (!(await isComplete())) {
        await removeAllStartingWith(unfinished);
        throw error;
      }
    }
  }
  await removeAllStartingWith(prefix);
}

/** Removes what begins with the prefix. What cannot be removed, because a process still writes to it, is left to the next call. */
async function removeAllStartingWith(prefix: string): Promise<void> {
  const folder = dirname(prefix);
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(prefix)));
  await Promise.allSettled(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

export async function chownTree(folder: string, account: Account): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, entry), account.uid, account.gid);
  }
  await lchown(folder, account.uid, account.gid);
}
