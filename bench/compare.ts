import { median } from './statistics.ts';
import type { Slice } from './load-worker.ts';

/** Runs for so many seconds. */
export type Run = (seconds: number) => Promise<Slice>;

export interface Comparison {
  subject: Slice;
  floor: Slice;
  /** Of the medians. */
  ratio: number;
}

/** Of a slice. */
const WARM_UP = 0.5;

/** Subject and floor in turns, after a warm-up of each: what else the machine does meets both. */
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
    throw new Error(`nothing was answered within ${seconds} s`);
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
