/** New connections belong together that come within so many milliseconds. */
const GAP_MS = 10;
/** Long work is put off while the last connection came within this time … */
const RECENT_MS = 3;
/** … and for no longer than this, however many come. */
const LONGEST_MS = 500;

let burstBeganMs = 0;
let lastMs = -Infinity;

/** Notes that a connection was accepted. */
export function noteArrival(): void {
  const nowMs = performance.now();
  if (nowMs - lastMs > GAP_MS) {
    burstBeganMs = nowMs;
  }
  lastMs = nowMs;
}

/**
 * True while a burst of new connections comes in. Node (libuv 1.52) accepts one connection in each round of the event loop: with 2 ms
 * of long work in each round, the last one of 200 would wait for half a second.
 */
export function isArriving(): boolean {
  const nowMs = performance.now();
  return nowMs - lastMs < RECENT_MS && nowMs - burstBeganMs < LONGEST_MS;
}
