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

/** Ends the burst if the current iteration of the event loop has accepted no connection. During a burst, runs once in each iteration. */
function endRound(): void {
  isInLastRound = isInThisRound;
  isInThisRound = false;
  isBurst = isInLastRound;
  if (isBurst) {
    setImmediate(endRound);
  }
}

/**
 * Returns true during a burst of new connections, for at most half a second. A burst lasts until an iteration of the event loop accepts
 * no connection. Callers postpone long work during a burst, because Node (libuv 1.52) accepts only one connection in each iteration. With
 * 2 ms of other work in each iteration, the last of 200 connections would wait for almost half a second.
 */
export function isArriving(): boolean {
  return (isInThisRound || isInLastRound) && performance.now() - burstBeganMs < MAX_BURST_MS;
}
