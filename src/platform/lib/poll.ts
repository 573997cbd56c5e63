import { setTimeout as sleep } from 'node:timers/promises';

export type Poll = ReturnType<typeof poll>;

/**
 * Runs `work` immediately, and then each `everyMs` or when a longer run ends. Does not keep the process running.
 * @param onError gets the first of several failures in a row
 */
export function poll(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isFailing = false;
  const run = async () => {
    while (!signal.aborted) {
      const begunAtMs = performance.now();
      try {
        await work();
        isFailing = false;
      } catch (error) {
        if (!isFailing) {
          onError(error);
        }
        isFailing = true;
      }
      const waitMs = Math.max(0, begunAtMs + everyMs - performance.now());
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const running = run();
  return {
    async close(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
