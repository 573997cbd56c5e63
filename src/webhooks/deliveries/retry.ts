/** Maximum number of attempts for one event: the first attempt and up to four retries (contract §6, delivery rule 3). */
export const MAX_ATTEMPTS = 5;

const LONGEST_WAIT_MS = 300_000;

/**
 * Returns the maximum of the random wait after the given failed attempt (1 to 4), in milliseconds (decision 33). The maximum is 2 s after
 * attempt 1, and doubles with every attempt. It cannot exceed 300 s (`LONGEST_WAIT_MS`). At present it does not reach this limit, because
 * it is only 16 s after attempt 4.
 * @throws RangeError if `attempt` is not 1 to 4, because no retry follows the fifth attempt
 */
export function retryCapMs(attempt: number): number {
  if (!Number.isInteger(attempt) || attempt < 1 || attempt >= MAX_ATTEMPTS) {
    throw new RangeError(
      `No retry follows attempt ${attempt}. The attempt must be a whole number from 1 to ${MAX_ATTEMPTS - 1}.`,
    );
  }
  return Math.min(LONGEST_WAIT_MS, 2_000 * 2 ** (attempt - 1));
}

/**
 * Returns the random wait after a failed attempt, from 0 to `retryCapMs(attempt)` milliseconds. The whole wait is random, so that the
 * retries of events that failed together do not all arrive at the same time.
 * @param random returns a number that is at least 0 and less than 1
 */
export function drawRetryWaitMs(attempt: number, random: () => number = Math.random): number {
  return Math.floor(random() * (retryCapMs(attempt) + 1));
}
