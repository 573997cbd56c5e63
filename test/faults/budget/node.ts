import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { START_ENVIRONMENT, START_FLAGS } from '#service/cli/start-settings.js';
import { newPort } from '../ports.ts';
import type { Reading } from './gauge.ts';

const COMMAND = join(import.meta.dirname, '../../../bin/roomservice.js');
const GAUGE = join(import.meta.dirname, 'gauge.ts');
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
const KEPT_LINES = 20;

/** A `roomservice serve` process with the settings of `npm start`. On request, it reports its memory and the pauses of its event loop. */
export class Node {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #lastLines: string[] = [];

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#ended = once(child, 'close');
    this.url = url;
    for (const input of [child.stdout, child.stderr]) {
      if (input !== null) {
        createInterface({ input }).on('line', (line) => this.#keep(line));
      }
    }
  }

  /**
   * Starts a process and waits until it is ready.
   * @param heapMiB the maximum heap in MiB, or null if V8 chooses it
   */
  static async start(env: Record<string, string>, heapMiB: number | null = null): Promise<Node> {
    const port = await newPort();
    const heap = heapMiB === null ? [] : [`--max-old-space-size=${heapMiB}`];
    const flags = [...START_FLAGS, ...heap, `--import=${GAUGE}`];
    const child = spawn(process.execPath, [...flags, COMMAND, 'serve'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        ...START_ENVIRONMENT,
        PORT: String(port),
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const node = new Node(child, `http://127.0.0.1:${port}`);
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    while (!(await node.#isReady())) {
      if (Date.now() > deadlineMs || node.hasEnded) {
        await node.kill();
        throw new Error(
          `The service was not ready within ${START_TIMEOUT_MS} ms, or ended. Its log ends with:\n${node.lastLines}`,
        );
      }
      await sleep(POLL_MS);
    }
    return node;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get lastLines(): string {
    return this.#lastLines.join('\n');
  }

  /**
   * Returns the measurements since the previous call, or null if the process has ended. If the process does not respond within `timeoutMs`,
   * its event loop counts as paused for that time.
   */
  async read(timeoutMs = 30_000): Promise<Reading | null> {
    if (this.hasEnded) {
      return null;
    }
    const standing = { standstillMs: timeoutMs, heldMs: timeoutMs, residentMiB: 0, peakMiB: 0 };
    this.#child.removeAllListeners('message');
    const answered = once(this.#child, 'message', { signal: AbortSignal.timeout(timeoutMs) }).then(
      ([reading]) => reading as Reading,
      () => standing,
    );
    this.#child.send('read', () => {});
    const ended = this.#ended.then(() => null);
    return await Promise.race([answered, ended]);
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

  #keep(line: string): void {
    this.#lastLines.push(line);
    this.#lastLines.splice(0, this.#lastLines.length - KEPT_LINES);
  }
}
