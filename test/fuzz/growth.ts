import type { HttpCase } from './cases.ts';
import { failureOf } from './judge.ts';
import type { Operation } from './operations.ts';
import { exampleRequest } from './requests.ts';
import { LIMIT_MS, prepare, send } from './send.ts';
import type { World } from './world.ts';
import { ownShapes, type Shape, SHAPES } from './shapes.ts';

/** A body may have 1 MiB; these leave room for what is around the shape. */
const LARGEST_BYTES = 1024 ** 2 - 2_048;
/** From the largest down, each half as long as the one before. */
const HALVINGS = 5;
/** The least of so many times is the work; what is more is the machine's. */
const MEASUREMENTS = 3;
const TRIES = 3;
/** So long that no machine is busy enough to explain it: it need not be measured again. */
const DECISIVE_MS = 1_000;
/** Longer than any answer is waited for. */
const UNANSWERED_MS = 2 * LIMIT_MS;

/** Whatever the largest body costs below that: nobody is held up by it, and nothing can be told of its growth. */
const UNNOTICED_MS = 40;
/** More than reading, decoding and checking take for each MiB, several times over. */
const MOST_MS_PER_MIB = 400;
const ALWAYS_ALLOWED_MS = 50;
/** 1: as fast as the size; 2: as its square. */
const STEEPEST = 1.4;

interface Point {
  sizeBytes: number;
  ms: number;
}

/**
 * Measures the time of bodies of rising size, in every shape, up to the largest there is; tells of what grows faster than its size,
 * and of what takes too long for its size.
 */
export async function findGrowth(world: World, operation: Operation): Promise<string[]> {
  if (operation.body === null) {
    return [];
  }
  const base = exampleRequest(operation, 1);
  const faults: string[] = [];
  for (const [name, shape] of Object.entries({ ...SHAPES, ...ownShapes(operation) })) {
    const { fault, points } = await judged(world, base, shape);
    if (fault !== null) {
      const told = points
        .map(({ sizeBytes, ms }) => `${Math.round(sizeBytes / 1024)} KiB ${ms.toFixed(0)} ms`)
        .join(', ');
      const line = `again: npm run test:fuzz -- --growth --only ${operation.id}`;
      faults.push(
        failureOf(`${operation.id}, ${name}: ${fault}: ${told}\n  ${line}`, { ...base, ...shape(LARGEST_BYTES) }),
      );
    }
    if (points.some(({ ms }) => ms === UNANSWERED_MS)) {
      // It is still busy with that; nothing can be measured any more.
      break;
    }
  }
  return faults;
}

/** Measured again where it looks bad, for the machine may have been busy. */
async function judged(world: World, base: HttpCase, shape: Shape): Promise<{ fault: string | null; points: Point[] }> {
  let points: Point[] = [];
  let fault: string | null = null;
  for (let tries = 0; tries < TRIES; tries += 1) {
    points = await measure(world, base, shape);
    fault = faultIn(points);
    if (fault === null || points.some(({ ms }) => ms > DECISIVE_MS)) {
      break;
    }
  }
  return { fault, points };
}

/** The largest first: where that is soon answered, the others need not be asked. */
async function measure(world: World, base: HttpCase, shape: Shape): Promise<Point[]> {
  const points: Point[] = [];
  for (let halvings = 0; halvings <= HALVINGS; halvings += 1) {
    const sizeBytes = Math.floor(LARGEST_BYTES / 2 ** halvings);
    const ms = await leastMs(world, { ...base, ...shape(sizeBytes) });
    points.unshift({ sizeBytes, ms });
    if (halvings === 0 && (ms < UNNOTICED_MS || ms === UNANSWERED_MS)) {
      break;
    }
  }
  return points;
}

async function leastMs(world: World, each: HttpCase): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MEASUREMENTS && least > ALWAYS_ALLOWED_MS / MEASUREMENTS; round += 1) {
    const outcome = await send(world.url, prepare(world, each));
    if (outcome.kind !== 'answer') {
      return UNANSWERED_MS;
    }
    least = Math.min(least, outcome.tookMs);
    if (least > DECISIVE_MS) {
      break;
    }
  }
  return least;
}

/** What is wrong with the times of rising sizes; null where nothing is. */
export function faultIn(points: Point[]): string | null {
  if (points.some(({ ms }) => ms === UNANSWERED_MS)) {
    return 'no answer';
  }
  const dear = points.find(({ sizeBytes, ms }) => ms > ALWAYS_ALLOWED_MS + (MOST_MS_PER_MIB * sizeBytes) / 1024 ** 2);
  if (dear !== undefined) {
    return `${dear.ms.toFixed(0)} ms are too long for ${Math.round(dear.sizeBytes / 1024)} KiB`;
  }
  const largest = points.at(-1);
  const steepness = steepnessOf(points);
  return largest !== undefined && largest.ms >= UNNOTICED_MS && steepness > STEEPEST
    ? `grows as the size to the power of ${steepness.toFixed(2)}`
    : null;
}

/** The exponent of growth: the slope of a line through the logarithms, over what is long enough to be measured. */
function steepnessOf(points: Point[]): number {
  // What every call costs, whatever its size, is most of what takes less.
  const logs = points
    .filter(({ ms }) => ms > UNNOTICED_MS / 8)
    .map(({ sizeBytes, ms }) => ({ x: Math.log(sizeBytes), y: Math.log(ms) }));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))];
  const slope = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const spread = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return logs.length < 3 ? 0 : slope / spread;
}
