import { median } from './statistics.ts';
import type { Slice } from './load-worker.ts';

/**
 * Function that puts load on the service or on its floor (the baseline) for the given number of seconds. It returns the measured values.
 */
export type Run = (seconds: number) => Promise<Slice>;

export interface Comparison {
  subject: Slice;
  floor: Slice;
  /** Calls per second of the subject (the service), divided by the calls per second of the floor (the baseline). Both are medians. */
  ratio: number;
}

/** Length of the warm-up, divided by the length of one measurement. */
const WARM_UP = 0.5;

/**
 * Measures a subject (the service) and its floor (the baseline) in several rounds, after a warm-up of each. Each round measures the subject
 * and then the floor. So other load on the machine slows down both, and changes their ratio only a little.
 * @returns the medians of all measurements, and the ratio of the medians
 * @throws Error if no response arrives during a measurement
 */
export async function compare(
  subject: Run,
  floor: Run,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Comparison> {
  await subject(seconds * WARM_UP);
  await floor(seconds * WARM_UP);
  const slices: { subject: Slice; floor: Slice }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    slices.push({ subject: await measured(subject, seconds), floor: await measured(floor, seconds) });
  }
  const medians = {
    subject: medianOf(slices.map((slice) => slice.subject)),
    floor: medianOf(slices.map((slice) => slice.floor)),
  };
  return { ...medians, ratio: medians.subject.perSecond / medians.floor.perSecond };
}

async function measured(run: Run, seconds: number): Promise<Slice> {
  const slice = await run(seconds);
  if (slice.perSecond === 0) {
    throw new Error(`No response arrived within ${seconds} s.`);
  }
  return slice;
}

function medianOf(slices: Slice[]): Slice {
  const of = (value: (slice: Slice) => number) => median(slices.map(value));
  return {
    perSecond: of((slice) => slice.perSecond),
    p50Ms: of((slice) => slice.p50Ms),
    p99Ms: of((slice) => slice.p99Ms),
    generatorLoad: of((slice) => slice.generatorLoad ?? 0),
  };
}
