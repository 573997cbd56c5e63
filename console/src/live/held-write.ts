import { Refused, Unreachable, waitMs } from '../api/client.ts';

/** After this time, a press that could not be sent is taken back with a notice. */
const HOLD_MS = 60_000;

/**
 * Sends a write, and again while the service cannot be reached, for a minute at most. The write must carry a `request_id`, by which the
 * service does it once. @throws Refused, and an error that says so after the minute
 */
export async function sendWhenBack<Result>(write: () => Promise<Result>): Promise<Result> {
  const pressedAt = Date.now();
  for (let count = 0; ; count += 1) {
    try {
      return await write();
    } catch (error) {
      const isAway = error instanceof Unreachable || (error instanceof Refused && error.status === 503);
      if (!isAway) {
        throw error;
      }
      const pauseMs = waitMs(count, 3_000);
      if (Date.now() + pauseMs - pressedAt > HOLD_MS) {
        // Nothing tells whether it arrived, so the screen reads the row again.
        const message = 'Roomservice was away for a minute, so this was taken back. Check the row, then press again.';
        throw new Error(message, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
