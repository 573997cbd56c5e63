import { execFile, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf, ifAbsent, OperatorError } from '../failures.ts';
import { ENVIRONMENT } from './cluster.ts';
import type { Location } from './location.ts';

interface Postmaster {
  pid: number;
  isReady: boolean;
}

export type Launch = Awaited<ReturnType<typeof launch>>;

const QUOTED_LINES = 8;
const POLL_MS = 25;
const FAST_STOP_MS = 10_000;
/** Time to wait after SIGQUIT. It is longer than the 5 s after which PostgreSQL kills its remaining processes. */
const IMMEDIATE_STOP_MS = 6_000;

/** Finds the PostgreSQL that runs on a data directory, even if another process has started it. Returns undefined if no PostgreSQL runs. */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const { pid, status } = await readLockFile(clusterDir);
  return (await isPostmaster(pid, clusterDir)) ? { pid, isReady: status === 'ready' } : undefined;
}

/** Reads PostgreSQL's lock file. The pid is 0 if the file is missing or not completely written yet. */
async function readLockFile(clusterDir: string): Promise<{ pid: number; status: string }> {
  const text = (await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(ifAbsent)) ?? '';
  const lines = text.split('\n');
  return { pid: Number(lines[0]) || 0, status: lines[7]?.trim() ?? '' };
}

/** Returns true if the process is the PostgreSQL of the data directory. After a crash, another program may have the pid. */
async function isPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  return pid > 0 && (await readCommandLine(pid)).includes(`/bin/postgres -D ${clusterDir} `);
}

async function readCommandLine(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
    }
    return (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout;
  } catch (error) {
    if (['ENOENT', 'ESRCH', 1].includes((error as { code: string | number }).code)) {
      return '';
    }
    throw error;
  }
}

/** Spawns PostgreSQL in its own process group, so that Ctrl-C does not stop it first. Its lock file lets only one run. */
export async function launch(
  { clusterDir, socketDir, account }: Location,
  { binaries, settings }: { binaries: string; settings: Record<string, string> },
) {
  const { pid } = await readLockFile(clusterDir);
  const stalePid = (await isPostmaster(pid, clusterDir)) ? 0 : pid;
  const effective = {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    ...settings,
  };
  const args = ['-D', clusterDir, ...Object.entries(effective).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const path = logFile(clusterDir);
  const log = openSync(path, 'a', 0o600);
  const { size } = fstatSync(log);
  const child = spawn(join(binaries, 'bin/postgres'), args, {
    cwd: '/',
    // A killed PostgreSQL leaves its lock file, and another program may have the pid of this file now. PG_GRANDPARENT_PID tells PostgreSQL
    // that a lock file with this pid is stale. Only PostgreSQL may remove the file, because it uses the file to find orphaned backends.
    env: { ...ENVIRONMENT, ...(stalePid ? { PG_GRANDPARENT_PID: String(stalePid) } : {}) },
    stdio: ['ignore', log, log],
    detached: true,
    ...account,
  });
  closeSync(log);
  child.unref();
  let ending: string | undefined;
  child.once('error', (error) => (ending = error.message));
  child.once('exit', (code, signal) => (ending = `PostgreSQL ended with ${signal ?? `exit code ${code}`}`));
  return {
    failure: async (): Promise<string | undefined> =>
      ending && `${ending}. ${path} ends with:\n${await readEnd(path, size)}`,
  };
}

export function logFile(clusterDir: string): string {
  return join(dirname(clusterDir), 'postgres.log');
}

async function readEnd(path: string, offset: number): Promise<string> {
  const written = (await readFile(path)).subarray(offset).toString();
  return written.trimEnd().split('\n').slice(-QUOTED_LINES).join('\n');
}

/** Stops PostgreSQL, after 10 s with the signal for an immediate stop. @throws OperatorError if it still runs after 16 s */
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
  throw new OperatorError(`PostgreSQL (process ${pid}) did not stop within 16 s. See ${logFile(clusterDir)}.`);
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
