import { setTimeout as sleep } from 'node:timers/promises';

/** Interval in milliseconds at which the functions of this file read the clock. */
const TICK_MS = 20;
/** Maximum time in milliseconds that counts as running time between two reads of the clock. */
const MAX_STEP_MS = 100;

/** Sums the time for which this process runs. While the machine suspends it, a service in it stands still too. */
class RunningTime {
  #readAtMs = performance.now();
  #ms = 0;

  read(): number {
    const nowMs = performance.now();
    this.#ms += Math.min(nowMs - this.#readAtMs, MAX_STEP_MS);
    this.#readAtMs = nowMs;
    return this.#ms;
  }
}

/** Waits until this process has run for `ms` milliseconds, so that its shorter timers have fired as often as usual. */
export async function sleepRunning(ms: number): Promise<void> {
  const time = new RunningTime();
  while (time.read() < ms) {
    await sleep(TICK_MS);
  }
}

/** Runs `work`, and returns for how many milliseconds this process has run in the meantime. */
export async function runningMsOf(work: () => Promise<unknown>): Promise<number> {
  const time = new RunningTime();
  const timer = setInterval(() => time.read(), TICK_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return time.read();
}
