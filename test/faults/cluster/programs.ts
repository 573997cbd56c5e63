import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PATH } from './server.ts';

/** Programs of the cluster, each with the package of Debian that has it. */
const PACKAGES: Record<string, string> = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  'redis-server': 'redis-server',
};
/** Folder in which Debian has one folder for each version of PostgreSQL. */
const POSTGRESQL = '/usr/lib/postgresql';

/** Returns the folder with the programs of the newest PostgreSQL that is installed, or undefined if there is none. */
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
 * Returns the API of etcd that Patroni uses. Before 3.0.3, Patroni with `etcd3` writes its lock without a comparison. A primary that was stopped
 * and continues can then take the lock from the new primary, and writes that the new primary has acknowledged are lost.
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
