import { setTimeout as sleep } from 'node:timers/promises';
import type { RoomserviceError } from './errors.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/**
 * Longest `Retry-After` that the SDK waits for, in seconds. The service counts calls per minute, so a 429 for too many calls never needs a
 * longer wait. If a response asks for a longer wait, the SDK does not retry, and the caller gets the error.
 */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/**
 * Failures after which the SDK sends a call again:
 * - `always`: every temporary failure. The call is safe to repeat, even if the service has executed the first request.
 * - `if_refused`: only a 429, because the service sends it before it executes the request.
 */
export type Repeatability = 'always' | 'if_refused';

/** Returns the time to wait before the next attempt, in milliseconds. Returns null if the SDK must not send the call again. */
export function retryWaitMs(error: RoomserviceError, repeatability: Repeatability): number | null {
  if (!isPassing(error) || (repeatability === 'if_refused' && error.status !== 429)) return null;
  const jitterMs = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (error.attempts - 1));
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds === null) return jitterMs;
  // If the service refuses many clients at the same time, all get the same Retry-After. So the SDK adds a random wait, and the clients
  // retry at different times.
  return retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS ? null : retryAfterSeconds * 1000 + jitterMs;
}

function isPassing({ code, status }: RoomserviceError): boolean {
  return status === null
    ? code === 'timeout' || code === 'connection_failed'
    : status === 408 || status === 429 || status >= 500;
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
