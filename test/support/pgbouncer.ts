import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections, freePort } from './free-port.ts';

/** Returns the version of PgBouncer on this machine as a number, for example 1.18, or undefined if PgBouncer is not installed. */
export function findPgbouncer(): number | undefined {
  try {
    return Number(/PgBouncer (\d+\.\d+)/.exec(execFileSync('pgbouncer', ['--version']).toString())?.[1]);
  } catch {
    return undefined;
  }
}

const NOBODY = { uid: 65_534, gid: 65_534 };

export interface Pgbouncer {
  /** Returns a URL that leads to the same database through PgBouncer. */
  urlOf(databaseUrl: string): string;
  close(): Promise<void>;
}

/** Starts PgBouncer in transaction mode, with five connections to each database. @param settings further lines of its configuration */
export async function startPgbouncer(databaseUrl: string, settings = ''): Promise<Pgbouncer> {
  const { username, password, hostname, port: databasePort } = new URL(databaseUrl);
  const host = decodeURIComponent(hostname);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-pgbouncer-'));
  const config = join(folder, 'pgbouncer.ini');
  await writeFile(
    config,
    `[databases]
* = host=${host} port=${databasePort || '5432'} user=${username}${password === '' ? '' : ` password=${password}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
${settings}
`,
  );
  // PgBouncer refuses to run as root. If this process is root, PgBouncer runs as the owner of the folder with the Unix socket of
  // PostgreSQL. This user may enter the folder.
  const { uid, gid } = host.startsWith('/') ? await stat(host) : NOBODY;
  await chmod(folder, 0o700);
  await Promise.all([folder, config].map((path) => chown(path, uid, gid)));
  const user = process.getuid?.() === 0 ? { uid, gid } : {};
  const child = spawn('pgbouncer', ['--quiet', config], { stdio: 'ignore', ...user });
  await untilListening(port, child);
  return {
    urlOf: (url) => `postgres://${username}@127.0.0.1:${port}${new URL(url).pathname}?sslmode=disable`,
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 400 && child.exitCode === null; tries += 1) {
    if (await acceptsConnections(port)) {
      return;
    }
    await sleep(25);
  }
  throw new Error('PgBouncer did not listen within 10 s.');
}
