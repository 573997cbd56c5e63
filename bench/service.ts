import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';

const COMMAND = join(import.meta.dirname, '../bin/roomservice.js');
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 5;

/** Running process of the command `roomservice serve`. */
export interface Service {
  url: string;
  pid: number;
  /** Time from the start of the command to the first 200 of /readyz, in milliseconds. */
  readyAfterMs: number;
  /** Returns the resident memory that the process uses now, in MB. */
  rssMb(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the service as an operator does, but with a call budget so large that no call is refused. The service writes its usual log to
 * /dev/null, so that the measurement does not include the cost of a log collector.
 * @param args additional arguments of the command
 * @throws Error if the service is not ready within 60 s
 */
export async function startService(settings: Record<string, string>, args: string[] = []): Promise<Service> {
  const port = await freePort();
  const { PATH, HOME } = process.env;
  const startedAt = performance.now();
  // The command finds Node by PATH. The folder of this process's Node comes first in PATH, so the service runs on the same Node.
  const child = spawn(COMMAND, ['serve', ...args], {
    env: {
      PATH: `${dirname(process.execPath)}:${PATH}`,
      HOME,
      PORT: String(port),
      // As `npm start` sets them.
      NODE_OPTIONS: '--max-semi-space-size=16',
      MALLOC_MMAP_THRESHOLD_: '65536',
      STOP_GRACE: '0',
      LOG_LEVEL: 'info',
      RATE_LIMIT_PER_MINUTE: '1000000000',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    // Gives the service its own process group, so that it does not receive Ctrl-C. The benchmark receives Ctrl-C and then stops the
    // service.
    detached: true,
  });
  // If the benchmark exits early, the service must also exit. Some services have started an embedded PostgreSQL, which would otherwise keep
  // running.
  const terminate = () => child.kill('SIGTERM');
  process.once('exit', terminate);
  const exited = once(child, 'exit').then(() => process.off('exit', terminate));
  const { pid = 0 } = child;
  const url = `http://127.0.0.1:${port}`;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  try {
    await untilReady(url, hasEnded);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    pid,
    readyAfterMs: performance.now() - startedAt,
    rssMb: () => rssMbOf(pid),
    [Symbol.asyncDispose]: stop,
  };
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  for (const deadlineMs = Date.now() + START_TIMEOUT_MS; Date.now() < deadlineMs && !hasEnded(); await sleep(POLL_MS)) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) {
      return;
    }
  }
  throw new Error('The service ended or was not ready within 60 s. Read its output on stderr.');
}

async function rssMbOf(pid: number): Promise<number> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
