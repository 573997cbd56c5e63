import { setTimeout as sleep } from 'node:timers/promises';

/** Work that runs again and again. */
export interface Poll {
  /** Stops the poll. Waits until the run under way has ended. */
  close(): Promise<void>;
}

/**
 * Runs `work` immediately, and then again each `everyMs` milliseconds. If a run takes longer, the next run begins when it ends. The poll does
 * not keep the process running.
 * @param onError gets the error of each run that fails. The poll continues
 */
export function poll(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void): Poll {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    while (!signal.aborted) {
      const begunAtMs = performance.now();
      await work().catch(onError);
      const waitMs = Math.max(0, begunAtMs + everyMs - performance.now());
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const running = run();
  return {
    async close() {
      stopping.abort();
      await running;
    },
  };
}
