import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** Shell command that runs in its own process group, with its output. */
export class Running {
  readonly command: string;
  output = '';
  /**
   * Resolves when all processes of the command have ended or closed their output. The value is the exit code of the shell, or null if a
   * signal ended the shell.
   */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  #isOver = false;

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

  /**
   * Waits until the output matches the pattern.
   * @throws Error if the command ends first, or if `timeoutMs` have passed. The message contains the end of the output
   */
  async waitFor(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
    for (const deadlineMs = Date.now() + timeoutMs; ; await sleep(POLL_MS)) {
      const isOver = this.#isOver;
      const match = pattern.exec(this.output);
      if (match !== null) {
        return match;
      }
      if (isOver || Date.now() > deadlineMs) {
        const why = isOver ? 'The command ended' : `${timeoutMs} ms passed`;
        throw new Error(
          `${why} before it printed ${pattern.source}. Its output ends with:\n${this.output.slice(-2_000)}`,
        );
      }
    }
  }

  /** Sends a signal to the whole process group, as Ctrl-C in a terminal does. Does nothing if the command has ended. */
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
