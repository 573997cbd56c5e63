import type { HttpCase } from './cases.ts';
import type { Operation } from './operations.ts';
import { exampleRequest } from './requests.ts';
import { LIMIT_MS, prepare, send } from './send.ts';
import type { World } from './world.ts';
import { ownShapes, type Shape, SHAPES } from './shapes.ts';

const SIZE_BYTES = 60_000;
const FACTOR = 8;
const MEASUREMENTS = 3;
const TRIES = 3;
/** Longer than any answer is waited for. */
const UNANSWERED_MS = 2 * LIMIT_MS;

/** Compares the time that a body takes with that of one eight times as long; tells of what grew faster than it. */
export async function findGrowth(world: World, operation: Operation): Promise<string[]> {
  if (operation.body === null) {
    return [];
  }
  const base = exampleRequest(operation, 1);
  const faults: string[] = [];
  for (const [name, shape] of Object.entries({ ...SHAPES, ...ownShapes(operation) })) {
    const [shortMs, longMs] = await measure(world, base, shape);
    if (isGrowth(shortMs, longMs)) {
      faults.push(
        `${operation.id}, ${name}: ${shortMs.toFixed(0)} ms, ${longMs.toFixed(0)} ms for ${FACTOR} times as much`,
      );
    }
    if (longMs === UNANSWERED_MS) {
      // It is still busy with that; nothing can be measured any more.
      break;
    }
  }
  return faults;
}

/** Times of a short body and of a long one; measured again where they look bad, for the machine may have been busy. */
async function measure(world: World, base: HttpCase, shape: Shape): Promise<[number, number]> {
  let times = await medians(world, base, shape);
  for (let tries = 1; tries < TRIES && isGrowth(...times) && times[1] < UNANSWERED_MS; tries += 1) {
    times = await medians(world, base, shape);
  }
  return times;
}

async function medians(world: World, base: HttpCase, shape: Shape): Promise<[number, number]> {
  const short: number[] = [];
  const long: number[] = [];
  for (let round = 0; round < MEASUREMENTS; round += 1) {
    short.push(await timeMs(world, { ...base, ...shape(SIZE_BYTES) }));
    long.push(await timeMs(world, { ...base, ...shape(SIZE_BYTES * FACTOR) }));
    if (long.includes(UNANSWERED_MS)) {
      return [median(short), UNANSWERED_MS];
    }
  }
  return [median(short), median(long)];
}

/** Generous: what grows with the square takes 64 times as long. What is not answered at all is always too long. */
function isGrowth(shortMs: number, longMs: number): boolean {
  return longMs === UNANSWERED_MS || longMs > 2.5 * FACTOR * Math.max(shortMs, 2) + 50;
}

async function timeMs(world: World, each: HttpCase): Promise<number> {
  const outcome = await send(world.url, prepare(world, each));
  return outcome.kind === 'answer' ? outcome.tookMs : UNANSWERED_MS;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
