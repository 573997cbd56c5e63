import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DestinationStream } from 'pino';
import { lowerPoolPriority } from '#platform/lib/pool-priority.ts';

export interface Host {
  out(text: string): void;
  err(text: string): void;
  openLog(): Promise<DestinationStream>;
  /** True if a person started the command: stdin is a terminal. */
  isInteractive: boolean;
  /** True if a person reads stderr. */
  showsProgress: boolean;
  /** Width of stdout in characters. Undefined if stdout is not a terminal. */
  columns: number | undefined;
  /** SIGPIPE is the end of the program that reads stdout, for example in `roomservice listen | head -1`. */
  onSignal(signals: NodeJS.Signals[], listener: (signal: NodeJS.Signals) => void): void;
  /** Called when `serve` listens, because its process then runs for long. */
  settle(): void;
  exit(code: number): void;
}

/** One Ctrl-C may send the signal several times, because npm and bin/roomservice.js may each pass it on to the process. */
const SAME_SIGNAL_MS = 2_000;

export interface OutputOptions {
  json?: boolean;
}

export class Terminal {
  readonly host: Host;
  /** Work to do if a signal interrupts the command. The work that was registered last comes first. */
  readonly #cleanUps: (() => Promise<unknown>)[] = [];
  /** True if SIGINT or SIGTERM has interrupted the command. It reports no more failures then: the interruption may cause them. */
  isInterrupted = false;

  constructor(host: Host) {
    this.host = host;
  }

  readonly print = (text: string): void => this.host.out(`${text}\n`);

  printResult({ json }: OutputOptions, result: unknown, text: string): void {
    this.print(json ? JSON.stringify(result, null, 2) : text);
  }

  readonly notify = (text: string): void => this.host.err(`${text}\n`);

  /** Prints progress of long work on stderr, so that stdout has only the result. Prints nothing if nobody reads stderr. */
  readonly showProgress = (text: string): void => {
    if (this.host.showsProgress) {
      this.notify(text);
    }
  };

  /** The command then exits with 128 plus the number of the signal, as if the signal had ended it. */
  whenInterrupted(work: () => Promise<unknown>): void {
    this.#cleanUps.unshift(work);
    if (this.#cleanUps.length === 1) {
      this.#onFirstSignal(['SIGINT', 'SIGTERM'], (signal) => void this.#cleanUpAndExit(signal));
    }
  }

  async untilStopped(): Promise<NodeJS.Signals> {
    // A process that was started with nohup must ignore SIGHUP, but a listener for SIGHUP would override this. With GNU nohup, stdin is not a
    // terminal. So the process listens for SIGHUP only if stdin is a terminal.
    const signals: NodeJS.Signals[] = this.host.isInteractive ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT'];
    return await new Promise((resolve) => this.#onFirstSignal(signals, resolve));
  }

  /** Calls the listener at the first signal. A signal more than 2 s later ends the process immediately, with exit code 1. */
  #onFirstSignal(signals: NodeJS.Signals[], listener: (signal: NodeJS.Signals) => void): void {
    let firstAtMs: number | null = null;
    this.host.onSignal(signals, (signal) => {
      if (firstAtMs === null) {
        firstAtMs = performance.now();
        listener(signal);
      } else if (performance.now() - firstAtMs > SAME_SIGNAL_MS) {
        this.host.exit(1);
      }
    });
  }

  async #cleanUpAndExit(signal: NodeJS.Signals): Promise<void> {
    this.isInterrupted = true;
    for (const work of this.#cleanUps) {
      await work().catch(() => {});
    }
    this.host.exit(128 + constants.signals[signal]);
  }
}

export function openTerminal(): Terminal {
  // A command ends its work although nobody reads its output any more, for example in `roomservice --help | head -3`.
  process.stdout.on('error', () => {});
  return new Terminal({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    openLog: async () => (await import('#platform/http/log.ts')).openLogOutput(),
    isInteractive: process.stdin.isTTY,
    showsProgress: process.stderr.isTTY,
    columns: process.stdout.columns,
    onSignal,
    settle,
    exit: (code) => process.exit(code),
  });
}

const onSignal: Host['onSignal'] = (signals, listener) => {
  for (const signal of signals) {
    // Node ignores SIGPIPE, and reports a failed write.
    if (signal === 'SIGPIPE') {
      process.stdout.on('error', () => listener(signal));
    } else {
      process.on(signal, listener);
    }
  }
};

/** The reasons for each flag are in docs/decisions/0021-runtime.md. */
function settle(): void {
  for (const flag of ['--heap-growing-percent=50', '--no-allocation-site-pretenuring', '--expose-gc']) {
    setFlagsFromString(flag);
  }
  // After the flag is set, only new contexts have the function `gc`.
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
  lowerPoolPriority();
}

/** Characters that control a terminal: control characters, line and paragraph separators, and those that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces each character that controls a terminal, also tabs and line breaks, with its escape `\uXXXX`. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
