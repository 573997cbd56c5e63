import { constants } from 'node:os';

/** Prints progress of long work on stderr, so that stdout has only the result. Prints nothing if stderr is not a terminal. */
export function showProgress(message: string): void {
  if (process.stderr.isTTY) {
    console.error(message);
  }
}

/** Prints a notice for the operator on stderr. */
export function notify(text: string): void {
  console.error(text);
}

/** Prints the result of a command on stdout. */
export function print(text: string): void {
  console.log(text);
}

/** Prints the result of a command on stdout as indented JSON. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

/** Option of each command that prints a result. */
export interface OutputOptions {
  json?: boolean;
}

/** Prints the result of a command on stdout: with `--json` as JSON, and otherwise as text. */
export function printResult({ json }: OutputOptions, result: unknown, text: string): void {
  if (json) {
    printJson(result);
  } else {
    print(text);
  }
}

/** Characters that control a terminal: control characters, line and paragraph separators, and those that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Replaces each character that controls a terminal, also tabs and line breaks, with its escape `\uXXXX`. Used for texts that tenants wrote.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

let isEnding = false;
/** Work to do if a signal interrupts the command. The work that was registered last comes first. */
const cleanUps: (() => Promise<unknown>)[] = [];

/**
 * Returns true if SIGINT or SIGTERM has interrupted the command. The command then reports no more failures, because the interruption itself
 * may cause them.
 */
export function isInterrupted(): boolean {
  return isEnding;
}

/**
 * Registers work that is done when SIGINT or SIGTERM interrupts the command. Work that was registered later is done first, and a failure
 * does not stop the other work. The command then exits with 128 plus the number of the signal, as if the signal had ended it.
 */
export function whenInterrupted(work: () => Promise<unknown>): void {
  cleanUps.unshift(work);
  if (cleanUps.length > 1) {
    return;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUpAndExit(signal));
  }
}

async function cleanUpAndExit(signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
  isEnding = true;
  for (const work of cleanUps) {
    await work().catch(() => {});
  }
  process.exit(128 + constants.signals[signal]);
}

/** Makes the command exit immediately with 0 on a signal. Used by `listen`, which holds no data that could be lost. */
export function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(0));
  }
  // A write fails if the program that reads the output has ended, for example in `roomservice listen | head -1`. Then the command ends
  // too.
  process.stdout.on('error', () => process.exit(0));
}
