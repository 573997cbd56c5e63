/** Maximum time, in milliseconds, for which a burst of new connections may postpone other work. */
const MAX_BURST_MS = 500;

let isInThisRound = false;
let isInLastRound = false;
let isBurst = false;
let burstBeganMs = 0;

/** Records that a connection was accepted. This starts a burst if no burst is under way. */
export function noteArrival(): void {
  isInThisRound = true;
  if (!isBurst) {
    isBurst = true;
    burstBeganMs = performance.now();
    setImmediate(endRound);
  }
}

/** Runs once in each iteration of the event loop during a burst. Ends the burst if this iteration has accepted no connection. */
function endRound(): void {
  isInLastRound = isInThisRound;
  isInThisRound = false;
  isBurst = isInLastRound;
  if (isBurst) {
    setImmediate(endRound);
  }
}

/**
 * Returns true during a burst of new connections. Then the calling code postpones long work, because such work delays the connections. In
 * each iteration of the event loop, Node (libuv 1.52) accepts only one connection from each listening socket. For example, with one socket
 * and 2 ms of other work in each iteration, the last of 200 connections would wait for almost half a second. A burst ends when an iteration
 * accepts no connection. When a burst has lasted for `MAX_BURST_MS`, this function returns false for the rest of the burst, so that the
 * postponed work can run.
 */
export function isArriving(): boolean {
  return (isInThisRound || isInLastRound) && performance.now() - burstBeganMs < MAX_BURST_MS;
}
