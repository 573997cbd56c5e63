import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';

const PROGRAM = join(import.meta.dirname, '../../../bin/roomservice.js');
const CLOCK = join(import.meta.dirname, 'shifted-clock.ts');
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const KEPT_LINES = 40;

interface ProcessOptions {
  name: string;
  args: string[];
  /** Environment variables of the process, except the variables for its ports. */
  env: Record<string, string>;
  onLogLine: (line: string) => void;
  /** Called if the process ends although the suite has not stopped or killed it. */
  onDeath: (lastLines: string[]) => void;
}

/** A `roomservice serve` process whose ports stay the same over restarts. */
export class ServiceProcess {
  readonly name: string;
  /** Path of the `bin/roomservice.js` that the next start runs. The fault `rolling-upgrade` sets that of the next version. */
  program = PROGRAM;
  child: ChildProcess | null = null;
  readonly #options: ProcessOptions;
  #ended: Promise<unknown> = Promise.resolve();
  #isExpectedToEnd = false;
  #port = 0;
  #metricsPort = 0;
  #lastLines: string[] = [];
  #firstStartMs = 0;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** Milliseconds from the first start of the process until it was ready. No fault and no load slowed down this start. */
  get firstStartMs(): number {
    return this.#firstStartMs;
  }

  /**
   * Starts the process and waits until it is ready.
   * @throws Error with the end of the log if the process is not ready after 60 s
   */
  async start(env: Record<string, string> = {}): Promise<void> {
    const beganAtMs = performance.now();
    await this.launch(env);
    for (const deadlineMs = Date.now() + START_TIMEOUT_MS; !(await this.isReady()); await sleep(POLL_MS)) {
      if (Date.now() > deadlineMs) {
        throw new Error(`${this.name} was not ready within ${START_TIMEOUT_MS} ms:\n${this.#lastLines.join('\n')}`);
      }
    }
    this.#firstStartMs ||= performance.now() - beganAtMs;
  }

  async launch(env: Record<string, string> = {}): Promise<void> {
    this.#port ||= await freePort();
    this.#metricsPort ||= await freePort();
    this.#isExpectedToEnd = false;
    const child = spawn(process.execPath, [this.program, 'serve', ...this.#options.args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        PORT: String(this.#port),
        METRICS_PORT: String(this.#metricsPort),
        // The balancers check `/readyz` several times in this time.
        STOP_GRACE: '2',
        NODE_OPTIONS: `--import=${CLOCK} --disable-warning=ExperimentalWarning`,
        ...this.#options.env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    this.#ended = once(child, 'close').then(() => {
      if (!this.#isExpectedToEnd) {
        this.#options.onDeath(this.#lastLines);
      }
    });
    for (const input of [child.stdout, child.stderr].filter((each) => each !== null)) {
      createInterface({ input }).on('line', (line) => this.#takeLine(line));
    }
  }

  /** Sends a signal that must not end the process, for example SIGSTOP. If the process still ends, the suite reports a violation. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the process by SIGTERM, and returns the time until it has ended, in milliseconds. */
  async stop(): Promise<number> {
    const beganAtMs = performance.now();
    await this.#end('SIGTERM');
    return performance.now() - beganAtMs;
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    return answer?.status === 200;
  }

  /** Reads the metrics of the process, by name. Metrics with labels are left out. */
  async metrics(): Promise<Map<string, number>> {
    const answer = await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`);
    const lines = (await answer.text()).split('\n').filter((line) => /^\w+ /.test(line));
    return new Map(lines.map((line) => line.split(' ')).map(([name = '', value]) => [name, Number(value)]));
  }

  async residentMiB(): Promise<number> {
    return Math.round(((await this.metrics()).get('process_resident_memory_bytes') ?? 0) / 1024 ** 2);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isExpectedToEnd = true;
    this.child?.kill(signal);
    await this.#ended;
  }

  #takeLine(line: string): void {
    this.#lastLines = [...this.#lastLines.slice(1 - KEPT_LINES), line];
    this.#options.onLogLine(line);
  }
}
