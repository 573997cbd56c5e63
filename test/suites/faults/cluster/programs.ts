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
 * Returns the version of the etcd API that Patroni must use. With `etcd3` before version 3.0.3, a primary that was suspended can take its
 * lock back from the new primary, and acknowledged writes are lost.
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
