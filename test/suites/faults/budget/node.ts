import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPort } from '../ports.ts';
import { PROGRAM } from '../service-process.ts';
import type { Reading } from './gauge.ts';

const GAUGE = join(import.meta.dirname, 'gauge.ts');
const START_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** A `roomservice serve` process with the settings of `npm start`. On request, it reports its memory and the turns of its event loop. */
export class Node {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#ended = once(child, 'close');
    this.url = url;
  }

  /** Starts a process and waits until it is ready. What the process writes to stderr appears in the output of the suite. */
  static async start(env: Record<string, string>): Promise<Node> {
    const port = await newPort();
    const child = spawn(process.execPath, ['--max-semi-space-size=16', `--import=${GAUGE}`, PROGRAM, 'serve'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        MALLOC_MMAP_THRESHOLD_: '65536',
        PORT: String(port),
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const node = new Node(child, `http://127.0.0.1:${port}`);
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    while (!(await node.#isReady())) {
      if (Date.now() > deadlineMs || node.hasEnded) {
        await node.kill();
        throw new Error(`The service was not ready within ${START_TIMEOUT_MS} ms, or ended.`);
      }
      await sleep(POLL_MS);
    }
    return node;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /**
   * Returns the measurements since the previous call, or null if the process has ended. If the process does not respond within 30 s, its
   * event loop counts as held for that time.
   */
  async read(): Promise<Reading | null> {
    if (this.hasEnded) {
      return null;
    }
    this.#child.removeAllListeners('message');
    const answered = once(this.#child, 'message', { signal: AbortSignal.timeout(READ_TIMEOUT_MS) }).then(
      ([reading]) => reading as Reading,
      () => ({ heldMs: READ_TIMEOUT_MS, residentMiB: 0, peakMiB: 0 }),
    );
    this.#child.send('read', () => {});
    return await Promise.race([answered, this.#ended.then(() => null)]);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async #isReady(): Promise<boolean> {
    const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    return answer?.status === 200;
  }
}
