import { setTimeout as sleep } from 'node:timers/promises';

export type Poll = ReturnType<typeof poll>;

/** Runs `work` immediately, and then each `everyMs` or when a longer run ends. Does not keep the process running. */
export function poll(everyMs: number, work: () => Promise<void>, onError: (error: unknown) => void) {
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
    async close(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
