import type { HttpCase } from './cases.ts';
import { failureOf } from './judge.ts';
import type { Operation } from './operations.ts';
import { exampleRequest } from './requests.ts';
import { LIMIT_MS, prepare, send } from './send.ts';
import type { World } from './world.ts';
import { ownShapes, type Shape, SHAPES } from './shapes.ts';

/**
 * Largest size for which a body is generated. It is 2 KiB below the limit of 1 MiB, because a generated body may be a
 * little larger than asked for.
 */
const LARGEST_BYTES = 1024 ** 2 - 2_048;
/** Number of smaller body sizes that are also measured. Each is half of the previous size. */
const HALVINGS = 5;
/**
 * Maximum number of requests that measure one body size. The shortest time counts, because other work of the machine
 * can only make a request slower.
 */
const MEASUREMENTS = 3;
const TRIES = 3;
/** If a response takes longer than this, the measurement is not repeated, because other work of the machine cannot cause so long a time. */
const DECISIVE_MS = 1_000;
/** Time that is recorded for a request without a response. It is longer than the time limit of a request. */
const UNANSWERED_MS = 2 * LIMIT_MS;

/**
 * If the response to the largest body takes less time than this, the growth is not checked. While the process decodes a body, all other
 * calls wait, but so short a wait is acceptable. The growth of such short times also cannot be measured.
 */
const UNNOTICED_MS = 40;
/**
 * Allowed response time for each MiB of the body. It is several times the time that reading, decoding and checking a
 * body take.
 */
const MOST_MS_PER_MIB = 400;
/** Allowed response time for a body of any size, in addition to the time that `MOST_MS_PER_MIB` allows for its size. */
const ALWAYS_ALLOWED_MS = 50;
/**
 * Largest allowed exponent of the growth of time with size. If the exponent is 1, the time is proportional to the size.
 * If it is 2, the time is proportional to the square of the size.
 */
const STEEPEST = 1.4;

interface Point {
  sizeBytes: number;
  ms: number;
}

/**
 * Sends bodies of growing size to an operation, and measures the response times. The bodies are of many kinds that may be expensive to
 * decode. `SHAPES` has the kinds that are sent to every operation, and `ownShapes` makes kinds for this operation only.
 * @returns a description of each kind of body whose response time grows faster than its size or is too long for its size
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
      // The service is still busy with the request that got no response, so the times of further requests would be
      // wrong.
      break;
    }
  }
  return faults;
}

/**
 * Measures the response times of one kind of body. If the times show a fault, repeats the measurement, because other
 * work may have slowed the machine down.
 */
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

/**
 * Measures the response times of one kind of body, from the largest size to the smallest. Ends after the largest body
 * if its response is fast or missing.
 */
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

/** Returns a description of the fault that the response times of growing bodies show, or null if they show no fault. */
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
 * Returns the exponent with which the response time grows with the size. It is the slope of a line through the
 * logarithms of sizes and times. Short times are ignored.
 */
function steepnessOf(points: Point[]): number {
  // Leaves out short times, because the fixed cost of a call is the largest part of them.
  const logs = points
    .filter(({ ms }) => ms > UNNOTICED_MS / 8)
    .map(({ sizeBytes, ms }) => ({ x: Math.log(sizeBytes), y: Math.log(ms) }));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))];
  const slope = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const spread = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return logs.length < 3 ? 0 : slope / spread;
}
