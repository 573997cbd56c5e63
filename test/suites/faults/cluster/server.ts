import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '../../../support/free-port.ts';

const STOP_WITHIN_MS = 15_000;
const LISTENING_WITHIN_MS = 30_000;
/** PATH with the folders of HAProxy and PgBouncer. Debian installs them into a folder that is not on the PATH of every user. */
export const PATH = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`;

/** User and group that run a server. Undefined means the user and group of this process. */
export type Account = { uid: number; gid: number } | undefined;

/**
 * Returns the account `postgres` if this process runs as root, because PostgreSQL and PgBouncer refuse to run as root. Otherwise returns
 * undefined, so that a server runs as the user of this process.
 */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'postgres']).toString());
  return { uid: idOf('-u'), gid: idOf('-g') };
}

interface ServerOptions {
  name: string;
  command: readonly [program: string, ...args: string[]];
  /** Folder in which the server runs, and in which its log `NAME.log` is. */
  folder: string;
  account: Account;
}

/** A server program in a separate process. A restart runs the same command. */
export class Server {
  readonly name: string;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  readonly #killAtExit = () => this.signal('SIGKILL');

  constructor(options: ServerOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Starts the server if it does not run. */
  start(): void {
    if (this.isRunning) {
      return;
    }
    const { command, folder, account } = this.#options;
    const [program, ...args] = command;
    const log = openSync(this.logPath, 'a');
    const env = { PATH, HOME: folder, LANG: 'C.UTF-8' };
    this.#child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', log, log], ...account });
    this.#child.on('error', () => {});
    closeSync(log);
    killersAtExit.add(this.#killAtExit);
  }

  get isRunning(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get logPath(): string {
    return join(this.#options.folder, `${this.name}.log`);
  }

  /** Returns the last lines of the log, for an error message. */
  lastLines(): string {
    return readFileSync(this.logPath, 'utf8').split('\n').slice(-15).join('\n');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended();
  }

  /** Stops the server by SIGTERM. Kills it if it still runs after 15 s. */
  async stop(): Promise<void> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), STOP_WITHIN_MS);
    await this.#ended();
    clearTimeout(timer);
  }

  async #ended(): Promise<void> {
    if (this.#child !== undefined && this.isRunning) {
      await once(this.#child, 'exit');
    }
    killersAtExit.delete(this.#killAtExit);
  }
}

/** Functions that kill the servers if the suite ends early. Otherwise the servers would continue to run. */
export const killersAtExit = new Set<() => void>();
process.once('exit', () => killersAtExit.forEach((kill) => kill()));

/**
 * Waits until a server accepts connections on a port of 127.0.0.1.
 * @throws Error with the end of the log if the server accepts no connection within 30 s
 */
export async function untilListening(server: Server, port: number): Promise<void> {
  for (const deadlineMs = Date.now() + LISTENING_WITHIN_MS; Date.now() < deadlineMs && server.isRunning; ) {
    if (await acceptsConnections(port)) {
      return;
    }
    await sleep(25);
  }
  throw new Error(`${server.name} does not listen on port ${port}. Its log ends with:\n${server.lastLines()}`);
}
