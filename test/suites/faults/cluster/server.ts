import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '../../../support/free-port.ts';

const LISTENING_WITHIN_MS = 30_000;
/** PATH with the folders of HAProxy and PgBouncer. Debian installs them into a folder that is not on the PATH of every user. */
export const PATH = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`;

/**
 * Returns the user and group that run the servers: `postgres` if this process runs as root, because PostgreSQL and PgBouncer refuse to run
 * as root, and otherwise those of this process.
 */
export function serverAccount(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'postgres']).toString());
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** A server program in a separate process. A restart runs the same command. */
export class Server {
  readonly name: string;
  readonly #command: readonly [program: string, ...args: string[]];
  /** Folder in which the server runs, and in which its log `NAME.log` is. */
  readonly #folder: string;
  #child: ChildProcess | undefined;

  constructor(folder: string, name: string, command: readonly [string, ...string[]]) {
    this.name = name;
    this.#folder = folder;
    this.#command = command;
  }

  start(): void {
    if (this.isRunning) {
      return;
    }
    const [program, ...args] = this.#command;
    const log = openSync(this.#logPath, 'a');
    const env = { PATH, HOME: this.#folder, LANG: 'C.UTF-8' };
    const options = { cwd: this.#folder, env, ...serverAccount() };
    this.#child = spawn(program, args, { ...options, stdio: ['ignore', log, log] });
    this.#child.on('error', () => {});
    closeSync(log);
  }

  get isRunning(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  lastLines(): string {
    return readFileSync(this.#logPath, 'utf8').split('\n').slice(-15).join('\n');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    if (this.#child !== undefined && this.isRunning) {
      await once(this.#child, 'exit');
    }
  }

  /** Waits until the server accepts connections on a port of 127.0.0.1. */
  async untilListening(port: number): Promise<void> {
    for (const deadlineMs = Date.now() + LISTENING_WITHIN_MS; Date.now() < deadlineMs && this.isRunning; ) {
      if (await acceptsConnections(port)) {
        return;
      }
      await sleep(25);
    }
    throw new Error(`${this.name} does not listen on port ${port}. Its log ends with:\n${this.lastLines()}`);
  }

  get #logPath(): string {
    return join(this.#folder, `${this.name}.log`);
  }
}

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
