import { setTimeout as sleep } from 'node:timers/promises';
import { nameDatabase } from '#platform/db/database-name.ts';
import { explainFault } from '#platform/db/fault-messages.ts';
import { readOutcome } from '#platform/db/transaction-outcome.ts';
import { OperatorError } from '#platform/errors.ts';

/**
 * Maximum time in milliseconds for which `roomservice move` waits until the server has ended the transaction of an interrupted move. The
 * server needs some time to notice that the client of this transaction has ended.
 */
const OUTCOME_WAIT_MS = 10_000;
const OUTCOME_POLL_MS = 250;

/**
 * Returns true if a transaction on the target was committed, and false if it was rolled back.
 * @param target name of the target for messages
 * @throws OperatorError if the target is out of reach, or does not know how the transaction ended
 */
export async function hasCommitted(to: string, target: string, transaction: string): Promise<boolean> {
  for (const deadlineMs = Date.now() + OUTCOME_WAIT_MS; ; await sleep(OUTCOME_POLL_MS)) {
    const outcome = await readOutcome(to, transaction).catch((error: unknown) => {
      const { message, code } = error as NodeJS.ErrnoException;
      throw new OperatorError(
        `The move was interrupted during its commit, and the database ${target} cannot be read (${message || code}). ` +
          'So it is unknown if that database has the data. Run the command again when the database can be reached.',
        { cause: error },
      );
    });
    if (outcome === 'committed' || outcome === 'aborted') {
      return outcome === 'committed';
    }
    if (outcome === null || Date.now() > deadlineMs) {
      throw new OperatorError(
        outcome === null
          ? `An earlier move to ${target} was interrupted during its commit, and that server does not know if the move was committed. ` +
              'Check that database. If it has the data, set DATABASE_URL to it. ' +
              'If it is empty, remove the file "moved-to" in DATA_DIR, and run the command again.'
          : `An earlier move to ${target} still runs on that server. Run the command again after it has ended.`,
      );
    }
  }
}

/** Explains a failure of the target, as `explainFault` does, and says that the old data is still in use. */
export function explainTargetFault(to: string, error: unknown): unknown {
  const fault = explainFault(error, nameDatabase(to, '--to'));
  return fault instanceof OperatorError && fault !== error
    ? new OperatorError(`${fault.message} Nothing was moved.`, { cause: error })
    : fault;
}
