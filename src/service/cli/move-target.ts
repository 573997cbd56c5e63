import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable } from '#platform/db/failures.ts';
import { readOutcome } from '#platform/db/transaction-outcome.ts';
import { OperatorError } from '#platform/errors.ts';

/**
 * Maximum time in milliseconds for which `roomservice move` waits until the server has ended the transaction of an interrupted move. The
 * server needs some time to notice that the client of this transaction has ended.
 */
const OUTCOME_WAIT_MS = 10_000;
const OUTCOME_POLL_MS = 250;
/** Message of the library pg if the server asks for a password and the URL has no password. */
const NO_PASSWORD = /client password must be a string/;
/** Messages of the errors that the library pg throws if it cannot connect to a server. These errors have no code. */
const REFUSED_BY_CLIENT = /^(SASL|SCRAM|The server does not support SSL)/;

/**
 * Returns true if a transaction on the target was committed, and false if it was rolled back.
 * @param target name of the target for messages
 * @throws OperatorError if the target is out of reach, or does not know how the transaction ended
 */
export async function hasCommitted(to: string, target: string, transaction: string): Promise<boolean> {
  for (const deadlineMs = Date.now() + OUTCOME_WAIT_MS; ; await sleep(OUTCOME_POLL_MS)) {
    const outcome = await readOutcome(to, transaction).catch((error: unknown) => {
      throw new OperatorError(
        `The move was interrupted during its commit, and the database ${target} cannot be read (${reasonOf(error)}). ` +
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

/**
 * Turns a failure of the target into an error that tells the operator what to do. The message shows no URL, because a URL may contain a
 * password. Returns other errors unchanged.
 */
export function explainTargetFault(target: string, error: unknown): unknown {
  if (error instanceof OperatorError) {
    return error;
  }
  if (error instanceof Error && NO_PASSWORD.test(error.message)) {
    return new OperatorError(
      `The database ${target} asks for a password. Put the password into the URL, or set PGPASSWORD. Nothing was moved.`,
      { cause: error },
    );
  }
  return isOfTarget(error)
    ? new OperatorError(
        `The database ${target} cannot be used (${reasonOf(error)}). Nothing was moved. Check the URL, the server and the privileges of the role, and run the command again.`,
        { cause: error },
      )
    : error;
}

/** Returns true if the server, the network or the connection has caused the error. Returns false if an error of our code has caused it. */
function isOfTarget(error: unknown): boolean {
  const isRefused = error instanceof Error && REFUSED_BY_CLIENT.test(error.message);
  return isRefused || typeof (error as { code?: unknown }).code === 'string' || isUnavailable(error);
}

function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
