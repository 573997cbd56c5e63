import { constants } from 'node:os';
import type { EmbeddedPostgres } from '#platform/db/embedded/embedded.ts';

let isEnding = false;

/** Returns true if SIGINT or SIGTERM has interrupted the command. Failures after the interruption are expected and need no message. */
export function isInterrupted(): boolean {
  return isEnding;
}

/**
 * Closes the embedded PostgreSQL when SIGINT or SIGTERM interrupts the command, so that PostgreSQL does not keep running. The command then
 * exits with 128 plus the number of the signal, as if the signal had ended it.
 */
export function closeWhenInterrupted(opening: Promise<EmbeddedPostgres>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isEnding = true;
      const left = opening.then(
        (server) => server.close(),
        () => {},
      );
      void left.finally(() => process.exit(128 + constants.signals[signal]));
    });
  }
}
