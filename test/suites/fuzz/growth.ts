import type { HttpCase } from './cases.ts';
import type { Operation } from './operations.ts';
import { exampleRequest } from './requests.ts';
import { LIMIT_MS, prepare, send } from './send.ts';
import type { World } from './world.ts';
import { ownShapes, type Shape, SHAPES } from './shapes.ts';

/** Largest size of a body. The limit of the service is 1 MiB, and a generated body may be a little larger than asked for. */
const LARGEST_BYTES = 1024 ** 2 - 2_048;
/** Number of smaller sizes that are also measured. Each is half of the previous one. */
const HALVINGS = 5;
/** The shortest time of these counts, because other work of the machine can only make a request slower. */
const MEASUREMENTS = 3;
const TRIES = 3;
/** A longer time is not measured again, because other work of the machine cannot cause it. */
const DECISIVE_MS = 1_000;
const UNANSWERED_MS = 2 * LIMIT_MS;

/** If the response to the largest body takes less time, other calls do not notice it, and its growth cannot be measured. */
const UNNOTICED_MS = 40;
/** Allowed time for each MiB of the body, which is several times what reading, decoding and checking it take, and for a call. */
const MOST_MS_PER_MIB = 400;
const ALWAYS_ALLOWED_MS = 50;
const STEEPEST = 1.4;

interface Point {
  sizeBytes: number;
  ms: number;
}

/** Returns the kinds of bodies of an operation whose response time grows faster than their size or is too long for it. */
export async function findGrowth(world: World, operation: Operation): Promise<string[]> {
  if (operation.body === null) {
    return [];
  }
  const base = exampleRequest(operation, 1);
  const faults: string[] = [];
  for (const [name, shape] of Object.entries({ ...SHAPES, ...ownShapes(operation) })) {
    const points = await judgedPoints(world, base, shape);
    const fault = faultIn(points);
    if (fault !== null) {
      const told = points
        .map(({ sizeBytes, ms }) => `${Math.round(sizeBytes / 1024)} KiB ${ms.toFixed(0)} ms`)
        .join(', ');
      const again = `  again: npm run test:fuzz -- --only ${operation.id} --cases 1`;
      faults.push(`${operation.id}, ${name}: ${fault}: ${told}\n${again}`);
    }
    if (points.some(({ ms }) => ms === UNANSWERED_MS)) {
      // The service is still busy, so the times of further requests would be wrong.
      break;
    }
  }
  return faults;
}

/** Measures one kind of body. Repeats it if the times show a fault, because other work may have slowed the machine down. */
async function judgedPoints(world: World, base: HttpCase, shape: Shape): Promise<Point[]> {
  let points = await measure(world, base, shape);
  const isUnsure = () => faultIn(points) !== null && points.every(({ ms }) => ms <= DECISIVE_MS);
  for (let tries = 1; tries < TRIES && isUnsure(); tries += 1) {
    points = await measure(world, base, shape);
  }
  return points;
}

/** Measures from the largest size to the smallest. Ends after the largest if its response is fast or missing. */
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
  const isDecided = () =>
    least <= ALWAYS_ALLOWED_MS / MEASUREMENTS || (least > DECISIVE_MS && least < Number.POSITIVE_INFINITY);
  for (let round = 0; round < MEASUREMENTS && !isDecided(); round += 1) {
    const outcome = await send(world.url, prepare(world, each));
    if (outcome.kind !== 'answer') {
      return UNANSWERED_MS;
    }
    least = Math.min(least, outcome.tookMs);
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

/** Returns the slope of a line through the logarithms of sizes and times. Short times are mostly the fixed cost of a call. */
function steepnessOf(points: Point[]): number {
  const logs = points
    .filter(({ ms }) => ms > UNNOTICED_MS / 8)
    .map(({ sizeBytes, ms }) => ({ x: Math.log(sizeBytes), y: Math.log(ms) }));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))];
  const slope = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const spread = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return logs.length < 3 ? 0 : slope / spread;
}
