import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, ifAbsent } from './failure.ts';

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
  throw new EmbeddedPostgresError(
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
