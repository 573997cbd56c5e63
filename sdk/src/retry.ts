import { setTimeout as sleep } from 'node:timers/promises';
import type { RoomserviceError } from './errors.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/**
 * Longest `Retry-After` that the SDK waits for, in seconds. The service counts calls per minute, so it never asks for a longer wait.
 * If a response asks for a longer wait, the SDK does not retry, and the caller gets the error.
 */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/**
 * Condition for sending a call again after a failed attempt:
 * - `always`: after every temporary failure. A repeated request has no further effect, even if the service has executed the first
 * request.
 * - `if_refused`: only after a 429. The service sends a 429 before it executes the request.
 */
export type Repeatability = 'always' | 'if_refused';

/** Returns the time to wait before the next attempt, in milliseconds. Returns null if the call must not be retried. */
export function retryWaitMs(error: RoomserviceError, repeatability: Repeatability): number | null {
  if (!isPassing(error) || (repeatability === 'if_refused' && error.status !== 429)) return null;
  const jitterMs = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (error.attempts - 1));
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds === null) return jitterMs;
  // Clients that the service refuses at the same time get the same Retry-After. The SDK adds a random wait, so that they
  // do not all retry at the same time.
  return retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS ? null : retryAfterSeconds * 1000 + jitterMs;
}

function isPassing({ code, status }: RoomserviceError): boolean {
  return status === null ? code === 'timeout' || code === 'connection_failed' : status === 429 || status >= 500;
}

/**
 * Waits for the given time.
 * @throws the reason of the signal if the signal is aborted during the wait
 */
export async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Returns the seconds that a `Retry-After` header asks for. Accepts a number of seconds or a date. Returns null for any other value. */
export function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
}
