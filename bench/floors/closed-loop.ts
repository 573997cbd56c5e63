import type { Slice } from '../load-worker.ts';
import { percentile } from '../statistics.ts';

/**
 * Runs `lanes` concurrent loops for the given time, and returns the measured values. Each loop calls `work` again as soon as its previous
 * call has ended.
 */
export async function closedLoop(
  { lanes, seconds }: { lanes: number; seconds: number },
  work: (lane: number) => Promise<void>,
): Promise<Slice> {
  const durations: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  const run = async (lane: number) => {
    for (let now = performance.now(); now < endAt; ) {
      await work(lane);
      const after = performance.now();
      durations.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  durations.sort((a, b) => a - b);
  return {
    perSecond: durations.length / elapsedSeconds,
    p50Ms: percentile(durations, 0.5),
    p99Ms: percentile(durations, 0.99),
  };
}
