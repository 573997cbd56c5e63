import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PATH } from './server.ts';

/** Debian package of each program of the cluster, by the name of the program. */
const PACKAGES: Record<string, string> = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  'redis-server': 'redis-server',
};
/** Folder in which Debian has one folder for each version of PostgreSQL. */
const POSTGRESQL = '/usr/lib/postgresql';

/** Returns the folder with the programs of the newest installed PostgreSQL, or undefined if no PostgreSQL is installed. */
export function findPostgresql(): string | undefined {
  const versions = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL).map(Number) : [];
  const newest = versions.sort((a, b) => b - a).map((version) => join(POSTGRESQL, String(version), 'bin'));
  return newest.find((folder) => existsSync(join(folder, 'initdb')));
}

/** Returns the packages of Debian that the cluster needs and that are not installed. */
export function missingPackages(): string[] {
  const missing = Object.entries(PACKAGES).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
  return findPostgresql() === undefined ? [...missing, 'postgresql'] : missing;
}

/**
 * Returns the version of the etcd API that Patroni must use. A Patroni before version 3.0.3 must not use `etcd3`, because its code for
 * `etcd3` has a fault. The fault occurs if a primary is suspended and wakes up only after another node has become the primary. The old
 * primary can then become the primary again, and the writes that the new primary has acknowledged are lost.
 */
export function etcdApi(): 'etcd' | 'etcd3' {
  const output = execFileSync('patroni', ['--version'], { env: { PATH } }).toString();
  const [major = 0, minor = 0, patch = 0] = (/(\d+)\.(\d+)\.(\d+)/.exec(output) ?? []).slice(1).map(Number);
  const isSafe = major > 3 || (major === 3 && (minor > 0 || patch >= 3));
  return isSafe ? 'etcd3' : 'etcd';
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { env: { PATH }, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
