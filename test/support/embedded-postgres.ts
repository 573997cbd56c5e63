import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type EmbeddedOptions, type EmbeddedPostgres, openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { findPostmaster, stopPostmaster } from '#platform/db/embedded/postmaster.ts';

type Opener = ChildProcessByStdio<Writable, Readable, null>;

export const isRoot = process.getuid?.() === 0;
const opened = new Set<EmbeddedPostgres>();
const SETTINGS = { fsync: 'off', shared_buffers: '16MB' };

/**
 * Returns a path for a DATA_DIR that does not exist yet, in a new folder that every user may enter. After the test, stops the PostgreSQL of
 * the DATA_DIR, and removes the new folder. PostgreSQL may have its files outside of the new folder, and then they are removed too.
 * @param inside names of folders between the new folder and the DATA_DIR
 */
export async function newDataDir(t: TestContext, ...inside: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rs-'));
  const dataDir = join(folder, ...inside, 'data');
  t.after(async () => {
    // Closes every instance first, because an open instance would create its files again after they are removed.
    await Promise.all([...opened].map((embedded) => embedded.close()));
    opened.clear();
    const link = join(dataDir, 'postgres');
    const cluster = await readlink(link).catch(() => link);
    const postmaster = await findPostmaster(cluster);
    if (postmaster) {
      await stopPostmaster(cluster, postmaster.pid);
    }
    if (cluster !== link) {
      await rm(dirname(cluster), { recursive: true, force: true });
    }
    await rm(folder, { recursive: true });
  });
  await chmod(folder, 0o755);
  return dataDir;
}

/** Opens an embedded PostgreSQL with fast settings. It is closed when the test ends. */
export async function open(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
  const embedded = await openEmbeddedPostgres({ dataDir, role: 'command', settings: SETTINGS, ...options });
  opened.add(embedded);
  return embedded;
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Starts a process that opens the embedded PostgreSQL, prints "open", and runs until its stdin ends. */
export function spawnOpener(
  dataDir: string,
  role: string,
  module = fileURLToPath(import.meta.resolve('#platform/db/embedded/embedded.ts')),
): Opener {
  const program = `
    const { openEmbeddedPostgres } = await import(${JSON.stringify(module)});
    const options = ${JSON.stringify({ dataDir, role, settings: SETTINGS })};
    const embedded = await openEmbeddedPostgres(options);
    console.log('open');
    process.stdin.on('data', () => {}).on('end', () => embedded.close());`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
}

export async function spawnOpened(dataDir: string, role: string, module?: string): Promise<Opener> {
  const child = spawnOpener(dataDir, role, module);
  const saysOpen = once(child.stdout, 'data');
  const endsEarly = once(child, 'exit').then(() =>
    Promise.reject(new Error('The process ended before it had opened the database.')),
  );
  await Promise.race([saysOpen, endsEarly]);
  // `endsEarly` rejects at every end of the process, and so also if a test ends the process after the database was opened. Such an end is
  // no error, so the rejection is ignored.
  endsEarly.catch(() => {});
  return child;
}

export async function killAndWait(child: Opener): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

export async function postmasterPid(clusterDir: string): Promise<number | undefined> {
  return (await findPostmaster(clusterDir))?.pid;
}

/**
 * Calls the condition until it returns a truthy value, and returns this value.
 * @throws if there is no such value within 30 s
 */
export async function eventually<T>(condition: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadlineMs = Date.now() + 30_000; Date.now() < deadlineMs; await sleep(20)) {
    const result = await condition();
    if (result) {
      return result;
    }
  }
  throw new Error('The condition did not come true within 30 s.');
}
