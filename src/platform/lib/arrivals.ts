/** Longest time in milliseconds for which new connections postpone other work. */
const MAX_BURST_MS = 500;

let isInThisRound = false;
let isInLastRound = false;
let isBurst = false;
let burstBeganMs = 0;

/** Notes that a connection was accepted. */
export function noteArrival(): void {
  isInThisRound = true;
  if (!isBurst) {
    isBurst = true;
    burstBeganMs = performance.now();
    setImmediate(endRound);
  }
}

/** Runs once in each round of the event loop, until a round has accepted no connection. */
function endRound(): void {
  isInLastRound = isInThisRound;
  isInThisRound = false;
  isBurst = isInLastRound;
  if (isBurst) {
    setImmediate(endRound);
  }
}

/**
 * Returns true during a burst of new connections, for at most half a second. A burst lasts until a round of the event loop accepts no
 * connection. Callers postpone long work during a burst, because Node (libuv 1.52) accepts only one connection in each round. With 2 ms
 * of other work in each round, the last one of 200 connections would wait for almost half a second.
 */
export function isArriving(): boolean {
  return (isInThisRound || isInLastRound) && performance.now() - burstBeganMs < MAX_BURST_MS;
}
