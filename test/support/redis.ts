import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

export function findRedis(): string | undefined {
  return ['redis-server', 'valkey-server'].find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

export interface Redis {
  url: string;
  port: number;
  /** Process id of the server. It is 0 before the first `start`. */
  readonly pid: number;
  /** Waits until the server responds. After `kill`, it has the same port again. */
  start(): Promise<void>;
  /** Kills the server. All its data is lost. */
  kill(): Promise<void>;
  /** Pauses the process: its connections stay open, but it sends no responses. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** Redis servers that run now. If this process ends, it kills them, because a failed test may not have stopped its servers. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Prepares a Redis server on a free port, which keeps nothing on disk and runs after `start`. */
export async function createRedis(program: string, extraSettings: string[] = []): Promise<Redis> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-redis-'));
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', folder, ...extraSettings];
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.ref();
      child.kill('SIGKILL');
      await ended;
    }
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child?.pid ?? 0;
    },
    async start() {
      child = spawn(program, args, { stdio: 'ignore' });
      child.unref();
      running.add(child);
      child.once('exit', running.delete.bind(running, child));
      await waitUntilResponding(child, port);
    },
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function waitUntilResponding(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (child.exitCode !== null) {
      throw new Error(
        `Redis ended with exit code ${child.exitCode}, perhaps because another program uses the port ${port}.`,
      );
    }
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.write('PING\r\n');
      const [reply] = (await once(socket, 'data')) as [Buffer];
      if (/^(\+PONG|-NOAUTH)/.test(reply.toString())) return;
    } catch {
      // The server does not listen yet, so the loop tries again.
    } finally {
      socket.destroy();
    }
    await sleep(25);
  }
  throw new Error('Redis did not respond within 10 s.');
}
