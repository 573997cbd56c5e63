/** Work is put off for no longer than this, however many connections come. */
const LONGEST_MS = 500;

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

/** Runs once in each round of the event loop while connections come. */
function endRound(): void {
  isInLastRound = isInThisRound;
  isInThisRound = false;
  isBurst = isInLastRound;
  if (isBurst) {
    setImmediate(endRound);
  }
}

/**
 * True while each round of the event loop accepts connections, for half a second at most. A listening socket gives Node (libuv 1.52)
 * one connection in each round: with 2 ms of other work in each, the last one of 200 would wait for half a second.
 */
export function isArriving(): boolean {
  return (isInThisRound || isInLastRound) && performance.now() - burstBeganMs < LONGEST_MS;
}
