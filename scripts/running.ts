import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** A command in a process group of its own, with all that it writes. */
export class Running {
  readonly command: string;
  output = '';
  /** Once every process that the command started has ended or let go of its output: the exit code, null after a signal. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  #isOver = false;

  /** @param command for the shell; `environment` is all that it sees */
  constructor(command: string, options: { cwd: string; environment: Record<string, string> }) {
    const { cwd, environment: env } = options;
    this.command = command;
    this.#child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.ended = once(this.#child, 'close').then(([code]) => {
      this.#isOver = true;
      return code as number | null;
    });
  }

  /** Waits until the output matches. @throws Error with the output's end where the command ends, or the time, before that */
  async waitFor(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
    for (const deadlineMs = Date.now() + timeoutMs; ; await sleep(POLL_MS)) {
      const isOver = this.#isOver;
      const match = pattern.exec(this.output);
      if (match !== null) {
        return match;
      }
      if (isOver || Date.now() > deadlineMs) {
        const why = isOver ? 'it ended' : `${timeoutMs} ms went by`;
        throw new Error(
          `${why} before it printed ${pattern.source}. Its output ends with:\n${this.output.slice(-2_000)}`,
        );
      }
    }
  }

  /** Sends a signal to the whole group, as Ctrl-C in a terminal does; does nothing where it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.#isOver || this.#child.pid === undefined) {
      return;
    }
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
        throw error;
      }
    }
  }
}
