import type { HttpCase } from './cases.ts';
import { failureOf } from './judge.ts';
import type { Operation } from './operations.ts';
import { exampleRequest } from './requests.ts';
import { LIMIT_MS, prepare, send } from './send.ts';
import type { World } from './world.ts';
import { ownShapes, type Shape, SHAPES } from './shapes.ts';

/** Size of the largest shape. A body may have 1 MiB, so this leaves room for the text around the shape. */
const LARGEST_BYTES = 1024 ** 2 - 2_048;
/** Number of smaller sizes. Each size is half of the previous one. */
const HALVINGS = 5;
/**
 * Number of measurements of one size. The smallest time counts, because other work of the machine can only add time.
 */
const MEASUREMENTS = 3;
const TRIES = 3;
/** A time that other work of the machine cannot explain. It is not measured again. */
const DECISIVE_MS = 1_000;
/** Time that stands for a missing response. It is longer than the time limit of a request. */
const UNANSWERED_MS = 2 * LIMIT_MS;

/**
 * A shorter time of the largest body is no fault. It delays no other call, and it is too short to measure its growth.
 */
const UNNOTICED_MS = 40;
/** Allowed time for each MiB. It is several times the time that reading, decoding and checking take. */
const MOST_MS_PER_MIB = 400;
/** Time that a body of each size may take, in addition to the time for its size. */
const ALWAYS_ALLOWED_MS = 50;
/** Largest allowed exponent of growth. 1 means that the time is proportional to the size, and 2 to its square. */
const STEEPEST = 1.4;

interface Point {
  sizeBytes: number;
  ms: number;
}

/**
 * Measures the times of bodies of growing size in every shape, up to the largest size. Reports each shape whose time grows faster
 * than its size or is too long for its size.
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
      // The service is still busy with the unanswered request, so further measurements would be wrong.
      break;
    }
  }
  return faults;
}

/** Measures a shape. A fault is measured again, because the machine may have been busy. */
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

/** Measures all sizes, the largest first. Stops if the largest body takes only a short time or gets no response. */
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

/** Returns a description of the fault in the times of growing sizes, or null if there is no fault. */
export function faultIn(points: Point[]): string | null {
  if (points.some(({ ms }) => ms === UNANSWERED_MS)) {
    return 'no response';
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

/**
 * Returns the exponent of growth, which is the slope of a line through the logarithms of sizes and times. Ignores short
 * times.
 */
function steepnessOf(points: Point[]): number {
  // In shorter times the fixed cost of a call is the largest part.
  const logs = points
    .filter(({ ms }) => ms > UNNOTICED_MS / 8)
    .map(({ sizeBytes, ms }) => ({ x: Math.log(sizeBytes), y: Math.log(ms) }));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))];
  const slope = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const spread = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return logs.length < 3 ? 0 : slope / spread;
}
