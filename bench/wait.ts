import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Waits until `isDone` returns true.
 * @param limitMs time limit in milliseconds
 * @param failure message of the error
 * @throws Error after the time limit
 */
export async function waitUntil(isDone: () => Promise<boolean>, limitMs: number, failure: string): Promise<void> {
  for (const deadlineMs = performance.now() + limitMs; !(await isDone()); await sleep(POLL_MS)) {
    if (performance.now() > deadlineMs) {
      throw new Error(`${failure} within ${limitMs / 1000} s.`);
    }
  }
}
