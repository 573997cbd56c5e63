import { setTimeout as sleep } from 'node:timers/promises';
import type { RoomserviceError } from './errors.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** A budget's window is 60 s, so no answer of the service asks for more; who does is told to the caller instead. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/**
 * When a call may be sent again after its last attempt failed:
 * - `always`: a second request does no more than the first, so a lost answer is no reason to give up;
 * - `if_refused`: only after a 429, which is answered before anything is done.
 */
export type Repeatability = 'always' | 'if_refused';

/** How long to wait before the next attempt, in milliseconds; null where there should be none. */
export function retryWaitMs(error: RoomserviceError, repeatability: Repeatability): number | null {
  if (!isPassing(error) || (repeatability === 'if_refused' && error.status !== 429)) return null;
  const jitterMs = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (error.attempts - 1));
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds === null) return jitterMs;
  // Clients that were refused together are told the same moment: the jitter keeps them from coming back together.
  return retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS ? null : retryAfterSeconds * 1000 + jitterMs;
}

function isPassing({ code, status }: RoomserviceError): boolean {
  return status === null ? code === 'timeout' || code === 'connection_failed' : status === 429 || status >= 500;
}

/** @throws the signal's reason as soon as it is aborted */
export async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** The header as whole seconds from now, from either of its forms; null where it is absent or neither. */
export function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
}
