import { constants } from 'node:os';
import type { EmbeddedPostgres } from '#platform/db/embedded/embedded.ts';

let isEnding = false;

/** Whether the command was interrupted: what fails in it from then on is no news. */
export function isInterrupted(): boolean {
  return isEnding;
}

/**
 * Lets an interrupted command leave the embedded PostgreSQL as it would at its end, so that one it started does not stay behind.
 * It then exits as the signal would have ended it (128 and the signal's number).
 */
export function leaveWhenInterrupted(opening: Promise<EmbeddedPostgres>): void {
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
