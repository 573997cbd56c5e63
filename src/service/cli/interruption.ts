import { constants } from 'node:os';
import type { EmbeddedPostgres } from '#platform/db/embedded/embedded.ts';

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

/** Closes the embedded PostgreSQL when SIGINT or SIGTERM interrupts the command, so that PostgreSQL does not keep running. */
export function closeWhenInterrupted(opening: Promise<EmbeddedPostgres>): void {
  whenInterrupted(async () => await (await opening).close());
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
