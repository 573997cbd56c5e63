import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Nice value of the pool's threads. Beside a busy event loop or PostgreSQL, such a thread gets about a tenth of a core. */
const NICE = 10;

/**
 * Lets the event loop and PostgreSQL go before hashing and compressing (Linux only). Call it after the first asynchronous read of a file.
 */
export function lowerPoolPriority(): void {
  if (process.platform !== 'linux') {
    return;
  }
  for (const thread of readdirSync('/proc/self/task')) {
    if (isOfPool(thread)) {
      setPriority(Number(thread), NICE);
    }
  }
}

function isOfPool(thread: string): boolean {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'latin1') === 'libuv-worker\n';
  } catch {
    return false; // The thread has ended.
  }
}
