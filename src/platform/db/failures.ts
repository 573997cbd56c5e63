import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.ts';

export { OperatorError } from '../errors.ts';

/** SQLSTATE codes of temporary failures. The same work may succeed shortly afterwards (database rule 7). */
const RETRYABLE_CODE = /^(?:40001|40P01|57P01|25006|08...|ECONNRESET|EPIPE)$/;
const RETRYABLE_MESSAGE =
  /^(?:Connection terminated(?! due to connection timeout)|Client has encountered a connection error|Client was closed)/;
/** Codes of a database that cannot do the work now: it is out of reach, starting, full, or has exceeded a time limit. */
const UNAVAILABLE_CODE =
  /^(?:57P02|57P03|53300|53100|53200|57014|55P03|25P03|58030|ECONNREFUSED|ENOENT|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;
/** Messages of pg that report that the database does not respond. Such work is not retried, because its caller has already waited for seconds. */
const UNAVAILABLE_MESSAGE =
  /^(?:Query read timeout|timeout exceeded when trying to connect|timeout expired|Connection (?:terminated due to connection timeout|ended unexpectedly))/;
/** SQLSTATE codes of a database that can read but not write: its disk is full or broken, or it is read-only. */
const REFUSED_WRITE = new Set(['53100', '58030', '25006']);

const MAX_TRIES = 5;
const FIRST_WAIT_MS = 20;

/** Returns the code of a system error, such as ENOENT, or a SQLSTATE, or an empty text. */
export function codeOf(error: unknown): string {
  return (error instanceof Error && (error as NodeJS.ErrnoException).code) || '';
}

/** Handler for `.catch(…)`. Returns undefined if the file does not exist, and throws every other error again. */
export function ifAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') {
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

/** Returns true if a table has changed since the statement was prepared. The statement succeeds if it is prepared again. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && messageOf(error).startsWith('cached plan');
}

/** Returns true if another transaction has held a lock for longer than this transaction may wait (`limitLockWaits`). */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** Returns true if PostgreSQL has ended the statement to resolve a deadlock, or if it has waited too long for a lock. */
export function isLockConflict(error: unknown): boolean {
  return codeOf(error) === '40P01' || isLockTimeout(error);
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** The new run must give its rows the same ids as the first run, because the first run may have been committed. */
function isRetryable(error: unknown): boolean {
  return RETRYABLE_CODE.test(codeOf(error)) || isStalePlan(error) || RETRYABLE_MESSAGE.test(messageOf(error));
}

/** Returns true if the work failed because the database cannot write. It may still be able to read. */
export function isRefusedWrite(error: unknown): boolean {
  return REFUSED_WRITE.has(codeOf(error instanceof UnavailableError ? error.cause : error));
}

/** Returns true if the database is unreachable or overloaded, and false if the statement itself is wrong. */
export function isUnavailable(error: unknown): boolean {
  return isRetryable(error) || UNAVAILABLE_CODE.test(codeOf(error)) || UNAVAILABLE_MESSAGE.test(messageOf(error));
}

/** Runs work, and up to four times again after a temporary failure. It must be repeatable, because a COMMIT may have succeeded. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries < MAX_TRIES && isRetryable(error)) {
        await sleep(Math.random() * FIRST_WAIT_MS * 2 ** tries);
        continue;
      }
      throw isUnavailable(error) ? new UnavailableError('The database is unavailable.', { cause: error }) : error;
    }
  }
}
