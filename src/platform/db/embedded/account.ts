import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, ifAbsent } from './failure.ts';

/** The account that PostgreSQL runs under where we are root, which it refuses to be. */
export interface Account {
  uid: number;
  gid: number;
}

/** Tried in this order. */
const USER_NAMES = ['postgres', 'nobody'];

/**
 * The account for PostgreSQL; undefined means our own. An existing database decides by its owner, so that neither a
 * `postgres` user that appears later nor a `sudo` in between locks it.
 * @throws EmbeddedPostgresError where we are root and there is no one else to be
 */
export async function chooseAccount(clusterDir: string | undefined): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const owner = clusterDir === undefined ? undefined : await stat(clusterDir).catch(ifAbsent);
  return owner !== undefined && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : findUnprivilegedUser();
}

async function findUnprivilegedUser(): Promise<Account> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of USER_NAMES) {
    const [, , uid, gid] = users.find((user) => user[0] === name) ?? [];
    if (uid !== undefined && gid !== undefined) {
      // macOS writes nobody as -2, which the system calls want unsigned.
      return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    }
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and this system has no user "postgres" or "nobody". ' +
      'Run the service as an ordinary user, or set DATABASE_URL.',
  );
}

/** Whether the account can change into a folder: only trying tells, with access lists and mounts in the way. */
export function canEnter(account: Account, folder: string): Promise<boolean> {
  return succeedsAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]);
}

/** Whether a program, run as the account, ends well. */
export function succeedsAs(account: Account, file: string, args: string[]): Promise<boolean> {
  return promisify(execFile)(file, args, { cwd: '/', env: {}, ...account }).then(
    () => true,
    () => false,
  );
}
