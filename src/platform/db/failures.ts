import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.ts';

/** SQLSTATE classes and codes after which the same work may succeed a moment later (architecture, database rule 7). */
const RETRYABLE_STATES = new Set(['40001', '40P01', '57P01', '25006']);
/** States that mean: the database cannot serve now (shutting down, starting, full of connections, out of space, timed out). */
const UNAVAILABLE_STATES = new Set(['57P02', '57P03', '53300', '53100', '53200', '57014', '55P03', '25P03', '58030']);
/** Lost or refused connections as Node and pg report them. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const LOST_CONNECTION =
  /^(Connection terminated(?! due to connection timeout)|Client has encountered a connection error|Client was closed)/;
/** A database that is silent has cost the caller seconds already: it is not asked again. */
const NO_CONNECTION =
  /^(Query read timeout|timeout exceeded when trying to connect|timeout expired|Connection (terminated due to connection timeout|ended unexpectedly))/;

const MAX_TRIES = 5;
const FIRST_WAIT_MS = 20;

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code ?? '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

/** A table has changed since the statement was prepared: on another connection it works. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && messageOf(error).startsWith('cached plan');
}

/** Another transaction has held a lock for longer than this one would wait (`limitLockWaits`). */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** A row with the same key is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** Whether the whole piece of work may be tried again, with the same ids. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    RETRYABLE_STATES.has(code) ||
    /^08...$/.test(code) ||
    code === 'ECONNRESET' ||
    code === 'EPIPE' ||
    isStalePlan(error) ||
    LOST_CONNECTION.test(messageOf(error))
  );
}

/** Whether the error says that the database is out of reach or overloaded, rather than that we asked something wrong. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    isRetryable(error) ||
    UNAVAILABLE_STATES.has(code) ||
    CONNECTION_CODES.has(code) ||
    NO_CONNECTION.test(messageOf(error))
  );
}

/**
 * Runs database work, again where it failed for a reason that passes, with waits of 20 ms doubling under jitter.
 * The work must give the same result when it is run twice: a lost answer to COMMIT is an unknown outcome.
 * @throws UnavailableError when the database stays out of reach; any other error of the work as it is
 */
export async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries < MAX_TRIES && isRetryable(error)) {
        await sleep(Math.random() * FIRST_WAIT_MS * 2 ** tries);
        continue;
      }
      throw isUnavailable(error) ? new UnavailableError('The database is out of reach.', { cause: error }) : error;
    }
  }
}
