import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '../../../support/accepts.ts';

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
  readonly #killAtExit = () => this.signal('SIGKILL');

  constructor(folder: string, name: string, command: readonly [string, ...string[]]) {
    this.name = name;
    this.#folder = folder;
    this.#command = command;
  }

  /** Starts the server if it does not run. */
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
    killersAtExit.add(this.#killAtExit);
  }

  get isRunning(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the last lines of the log, for an error message. */
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
    killersAtExit.delete(this.#killAtExit);
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

/** Functions that kill the servers if the suite ends early. Otherwise the servers would continue to run. */
export const killersAtExit = new Set<() => void>();
process.once('exit', () => killersAtExit.forEach((kill) => kill()));
