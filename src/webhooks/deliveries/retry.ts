/** Every event is posted at most five times: once, and up to four retries (contract §6, delivery rule 3). */
export const MAX_ATTEMPTS = 5;

const LONGEST_WAIT_MS = 300_000;

/**
 * The longest wait, in milliseconds, after failed attempt 1…4 (decision 33): 2 s, doubled with every attempt, never
 * above 300 s. Throws RangeError for any other attempt, because nothing follows the fifth.
 */
export function retryCapMs(attempt: number): number {
  if (!Number.isInteger(attempt) || attempt < 1 || attempt >= MAX_ATTEMPTS) {
    throw new RangeError(`No retry follows attempt ${attempt}`);
  }
  return Math.min(LONGEST_WAIT_MS, 2_000 * 2 ** (attempt - 1));
}

/**
 * A random wait of 0…cap milliseconds after a failed attempt. The jitter is full, so that the retries of many events
 * that failed together do not come back together. `random` gives a number from 0 to below 1.
 */
export function drawRetryWaitMs(attempt: number, random: () => number = Math.random): number {
  return Math.floor(random() * (retryCapMs(attempt) + 1));
}
