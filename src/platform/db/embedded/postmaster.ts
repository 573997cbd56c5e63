import { execFile, spawn } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ENVIRONMENT } from './cluster.ts';
import { codeOf, EmbeddedPostgresError, ifAbsent } from './failure.ts';
import type { Location } from './location.ts';

export interface Postmaster {
  pid: number;
  /** Whether it takes connections; false while it starts, recovers from a crash or stops. */
  isReady: boolean;
}

/** A PostgreSQL that we have spawned. */
export interface Launch {
  /** How it ended before it took connections; undefined while it runs. */
  failure(): Promise<string | undefined>;
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const QUOTED_LINES = 8;
const POLL_MS = 25;
const FAST_STOP_MS = 10_000;
/** PostgreSQL kills what is left of its processes 5 s after it was told to stop at once. */
const IMMEDIATE_STOP_MS = 6_000;

/** The PostgreSQL that runs on a cluster, whoever started it; undefined where none does. */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const { pid, status } = await readLockFile(clusterDir);
  return (await isPostmaster(pid, clusterDir)) ? { pid, isReady: status === 'ready' } : undefined;
}

/** The pid is 0 where there is no lock file, or one that is only just being written. */
async function readLockFile(clusterDir: string): Promise<{ pid: number; status: string }> {
  const text = (await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(ifAbsent)) ?? '';
  const lines = text.split('\n');
  return { pid: Number(lines[0]) || 0, status: lines[7]?.trim() ?? '' };
}

/** Looks at the command line, because after a crash the pid may have passed to another program. A zombie has none. */
async function isPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  return pid > 0 && (await readCommandLine(pid)).includes(`/bin/postgres -D ${clusterDir} `);
}

/**
 * Empty where there is no such process. Any other failure is one: a running PostgreSQL must not be taken for a dead
 * one.
 */
async function readCommandLine(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
    }
    return (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout;
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error && error.code;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 1) {
      return '';
    }
    throw error;
  }
}

/**
 * Spawns PostgreSQL on the cluster, in a process group of its own (Ctrl-C must not reach it before we have stopped)
 * and with a file for its log (a pipe would end with us). Several may do so at once: PostgreSQL's own lock file lets
 * one of them live.
 */
export async function launch(
  { clusterDir, socketDir, account }: Location,
  { binaries, settings }: { binaries: string; settings: Record<string, string> },
): Promise<Launch> {
  const { pid } = await readLockFile(clusterDir);
  const stalePid = (await isPostmaster(pid, clusterDir)) ? 0 : pid;
  const effective = {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    ...settings,
  };
  const args = ['-D', clusterDir, ...Object.entries(effective).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const log = openLog(logFile(clusterDir));
  const child = spawn(join(binaries, 'bin/postgres'), args, {
    cwd: '/',
    // PostgreSQL takes a lock file that names this pid for a stale one, even if the pid lives on as another program.
    // (Removing the file instead would take away its check for orphaned backends, and race with others that start.)
    env: { ...ENVIRONMENT, ...(stalePid ? { PG_GRANDPARENT_PID: String(stalePid) } : {}) },
    stdio: ['ignore', log.descriptor, log.descriptor],
    detached: true,
    ...account,
  });
  closeSync(log.descriptor);
  child.unref();
  let ending: string | undefined;
  child.once('error', (error) => (ending = error.message));
  child.once('exit', (code, signal) => (ending = `it ended with ${signal ?? `exit code ${code}`}`));
  return {
    failure: async () =>
      ending && `${ending}. ${logFile(clusterDir)} ends with:\n${await readEnd(clusterDir, log.offset)}`,
  };
}

export function logFile(clusterDir: string): string {
  return join(dirname(clusterDir), 'postgres.log');
}

function openLog(path: string): { descriptor: number; offset: number } {
  const descriptor = openSync(path, 'a', 0o600);
  if (fstatSync(descriptor).size > MAX_LOG_BYTES) {
    ftruncateSync(descriptor);
  }
  return { descriptor, offset: fstatSync(descriptor).size };
}

async function readEnd(clusterDir: string, offset: number): Promise<string> {
  const written = (await readFile(logFile(clusterDir))).subarray(offset).toString();
  return written.trimEnd().split('\n').slice(-QUOTED_LINES).join('\n');
}

/**
 * Stops PostgreSQL and waits until it is gone: clients are disconnected, all is written down; after 10 s, at once.
 * @throws EmbeddedPostgresError where it still runs after 16 s
 */
export async function stopPostmaster(clusterDir: string, pid: number): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
  ] as const) {
    kill(pid, signal);
    for (const deadlineMs = Date.now() + timeoutMs; Date.now() < deadlineMs; await sleep(POLL_MS)) {
      if (!(await isPostmaster(pid, clusterDir))) {
        return;
      }
    }
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not stop. See ${logFile(clusterDir)}.`);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') {
      throw error;
    }
  }
}
