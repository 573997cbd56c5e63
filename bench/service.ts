import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../test/support/command.ts';

const COMMAND = join(import.meta.dirname, '../bin/roomservice.js');
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 5;

/** `roomservice serve` in a process of its own. */
export interface Service {
  url: string;
  /** From the spawn to the first 200 of /readyz. */
  readyAfterMs: number;
  /** What the process holds in memory now, in megabytes. */
  rssMb(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the service as an operator would, with a budget that does not stand in the way. It logs what it always logs, to /dev/null:
 * what a collector of logs costs is not measured.
 */
export async function startService(settings: Record<string, string>): Promise<Service> {
  const port = await freePort();
  const { PATH, HOME } = process.env;
  const startedAt = performance.now();
  // By its name; the Node that runs it is ours.
  const child = spawn(COMMAND, ['serve'], {
    env: {
      PATH: `${dirname(process.execPath)}:${PATH}`,
      HOME,
      PORT: String(port),
      LOG_LEVEL: 'info',
      RATE_LIMIT_PER_MINUTE: '1000000000',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    // A Ctrl-C is for the benchmark, which then stops it.
    detached: true,
  });
  // Whatever becomes of us, it does not stay behind, nor a PostgreSQL that it has started.
  const terminate = () => child.kill('SIGTERM');
  process.once('exit', terminate);
  const exited = once(child, 'exit').then(() => process.off('exit', terminate));
  const url = `http://127.0.0.1:${port}`;
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  try {
    await untilReady(url, isOver);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    readyAfterMs: performance.now() - startedAt,
    rssMb: () => rssMbOf(child.pid ?? 0),
    [Symbol.asyncDispose]: stop,
  };
}

async function untilReady(url: string, isOver: () => boolean): Promise<void> {
  for (const deadlineMs = Date.now() + START_TIMEOUT_MS; Date.now() < deadlineMs && !isOver(); await sleep(POLL_MS)) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) {
      return;
    }
  }
  throw new Error('The service did not become ready.');
}

async function rssMbOf(pid: number): Promise<number> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
