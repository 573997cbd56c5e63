import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Nice value of the pool's threads. Beside a busy event loop or PostgreSQL, such a thread gets about a tenth of a core. */
const NICE = 10;

/**
 * Lowers the priority of the threads that hash passwords and compress menus, which only Linux can. Call it when the pool has started, which
 * it does at the first read of a file that is not synchronous.
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
