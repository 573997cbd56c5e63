import fc from 'fast-check';
import type { Case } from './cases.ts';
import { findGrowth } from './growth.ts';
import { failureOf, Judge } from './judge.ts';
import { type NamedCases, namedRequests } from './named.ts';
import { type Operation, readOperations } from './operations.ts';
import { namedRawCases, rawCases } from './raw.ts';
import { requestsTo } from './requests.ts';
import { hangUp } from './send.ts';
import { World } from './world.ts';

interface FuzzOptions {
  cases: number;
  /** Seed of the random cases. A run with the same seed sends the same cases. */
  seed: number;
  /** Name of the only target to fuzz, for example the id of an operation. If it is missing, all targets are fuzzed. */
  only?: string;
  onProgress?: (done: number, target: string) => void;
}

interface FuzzReport {
  /** Table with one line for each operation: the number of its cases, and the number of responses with each status. */
  table: string;
  cases: number;
  /**
   * Descriptions of faults. If the fuzzer knows the case that caused a fault, the description contains a command that sends this case
   * again.
   */
  failures: string[];
  /**
   * Expected statuses that no response had, each with the name of its operation. So the run has not tested the code that sends such a
   * response. The list is always empty if the run has fewer than `WHOLE_RUN_CASES` cases, or if it stops because of too many failures.
   */
  unseen: string[];
}

/** A target of the fuzzer: an operation, a path without an operation, or raw bytes on a socket. */
interface Target {
  name: string;
  operation: Operation | null;
  /** Weight of the target. Each target gets cases in proportion to its weight. */
  weight: number;
  cases: fc.Arbitrary<Case>;
  named: NamedCases<Case>;
}

const BODY_WEIGHT = 3;
const RAW_WEIGHT = 10;
/**
 * Parts of a target's cases (from 0 to 1) that have a hostile input of `hostile.ts`:
 * - `PROMISED_SHARE` is the part with inputs for which the service guarantees a correct response, for example `PROMISED_VALUES`.
 * - `OTHERS_SHARE` is the part with inputs that have caused faults in other services, for example `OTHER_VALUES`.
 *
 * The remaining cases are random. All cases are checked in the same way. In each part, a wrong response is a fault of the service.
 */
const PROMISED_SHARE = 0.4;
const OTHERS_SHARE = 0.2;
/**
 * Minimum number of cases of a complete run. A complete run also measures how response times grow with the body size, and reports the
 * expected statuses that no response had.
 */
const WHOLE_RUN_CASES = 15_000;
const SHRINK_LIMIT_MS = 20_000;
/** Number of failures after which the run stops. */
const MOST_FAILURES = 10;

/**
 * Starts a service, fuzzes it, and returns the report.
 * @throws Error if `only` is not the name of a target
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const operations = await readOperations();
  const targets = targetsOf(operations, options.seed).filter(({ name }) => [undefined, name].includes(options.only));
  if (targets.length === 0) {
    throw new Error(`There is no target "${options.only}". Use the id of an operation.`);
  }
  return await inWorld(async (world) => {
    const judge = new Judge(world, operations);
    const failures = await fuzzTargets(world, judge, targets, options);
    const isWhole = options.cases >= WHOLE_RUN_CASES && failures.length < MOST_FAILURES;
    if (isWhole && world.isRunning) {
      failures.push(
        ...(await growthOf(
          world,
          targets.flatMap(({ operation }) => operation ?? []),
        )),
      );
    }
    failures.push(...(await judge.stillServes()));
    const unseen = targets.flatMap(({ name, operation }) =>
      isWhole && operation !== null ? judge.tally.unseen(operation).map((answer) => `${name}: ${answer}`) : [],
    );
    return { table: judge.tally.table(), cases: judge.tally.total, failures, unseen };
  });
}

/**
 * Starts a service and sends one case to it.
 * @returns the faults and the statuses of the responses
 */
export async function replay(each: Case): Promise<{ faults: string[]; statuses: number[] }> {
  const operations = await readOperations();
  return await inWorld(async (world) => {
    const judge = new Judge(world, operations);
    const { faults, statuses } = await judge.judge(each);
    return { statuses, faults: [...faults, ...judge.logFaults(), ...(await judge.stillServes())] };
  });
}

/**
 * Starts a service and only measures how response times grow with the size of the body.
 * @param only the id of the operation to measure, or undefined for all operations
 */
export async function measureGrowth(only: string | undefined, onProgress: (name: string) => void): Promise<string[]> {
  const operations = (await readOperations()).filter(({ id }) => [undefined, id].includes(only));
  return await inWorld(async (world) => await growthOf(world, operations, onProgress));
}

async function inWorld<T>(work: (world: World) => Promise<T>): Promise<T> {
  const world = await World.open();
  try {
    return await work(world);
  } finally {
    hangUp();
    await world.close();
  }
}

function targetsOf(operations: Operation[], seed: number): Target[] {
  const target = (operation: Operation) => ({
    name: operation.id,
    weight: operation.body === null ? 1 : BODY_WEIGHT,
    cases: requestsTo(operation),
    named: namedRequests(operation, seed),
  });
  return [
    ...operations.map((operation) => ({ ...target(operation), operation })),
    ...['/livez/', '/readyz/', '/v1/{anything}/'].map((path) => ({ ...target(undocumented(path)), operation: null })),
    {
      name: 'raw sockets',
      operation: null,
      weight: RAW_WEIGHT,
      cases: rawCases,
      named: { promised: namedRawCases, others: [] },
    },
  ];
}

/** Makes an operation of a path that is in no OpenAPI document, so that the fuzzer can call this path too. */
function undocumented(path: string): Operation {
  const name = /\{(\w+)\}/.exec(path)?.[1];
  const schema = { type: 'string' };
  const parameters = name === undefined ? [] : [{ in: 'path' as const, name, required: true, schema }];
  const unknown = {
    schemes: [],
    isConsoleOnly: false,
    body: null,
    answers: new Map(),
    hasCsv: false,
    emptyStatuses: new Set<number>(),
  };
  return { id: path, method: 'GET', path, parameters, ...unknown };
}

async function fuzzTargets(world: World, judge: Judge, targets: Target[], options: FuzzOptions): Promise<string[]> {
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const failures: string[] = [];
  for (const [index, target] of targets.entries()) {
    options.onProgress?.(judge.tally.total, target.name);
    const share = Math.max(1, Math.round((options.cases * target.weight) / weights));
    // Each target has its own seed, because with the same seed similar operations would get the same cases.
    failures.push(...(await fuzzTarget(world, judge, target, share, options.seed + index)));
    if (failures.length >= MOST_FAILURES || !(await judge.isAlive())) {
      break;
    }
  }
  return failures;
}

/**
 * Sends the cases of one target. If a case fails, searches for the smallest case that still fails.
 * @returns a description of this case, and of each fault in the log of the service
 */
async function fuzzTarget(world: World, judge: Judge, target: Target, share: number, seed: number): Promise<string[]> {
  await world.restore();
  await world.restock(target.operation?.path ?? '');
  let failedAtMs: number | null = null;
  const property = fc.asyncProperty(target.cases, async (each) => {
    if (failedAtMs !== null && (!world.isRunning || performance.now() - failedAtMs > SHRINK_LIMIT_MS)) {
      return;
    }
    const { faults, statuses } = await judge.judge(each);
    if (failedAtMs === null) {
      judge.tally.count(target.name, statuses);
    }
    if (faults.length > 0) {
      failedAtMs ??= performance.now();
      throw new Error(faults.join('; '));
    }
  });
  const { promised, others } = target.named;
  const named = [...spread(promised, share * PROMISED_SHARE, seed), ...spread(others, share * OTHERS_SHARE, seed)];
  const examples = named.map((each): [Case] => [each]);
  const { counterexample, errorInstance } = await fc.check(property, { numRuns: share, seed, examples });
  const [each] = counterexample ?? [];
  const found = each === undefined ? [] : [failureOf(`${target.name}: ${String(errorInstance)}`, each)];
  return [...found, ...judge.logFaults()];
}

/** Returns about `most` elements, spread evenly over the list. The seed decides which elements these are. */
function spread<T>(all: T[], most: number, seed: number): T[] {
  const stride = Math.max(1, all.length / most);
  const offset = seed % Math.ceil(stride);
  return all.filter((_, index) => Math.floor((index + offset) / stride) !== Math.floor((index + offset - 1) / stride));
}

async function growthOf(world: World, operations: Operation[], onProgress?: (name: string) => void): Promise<string[]> {
  await world.restore();
  const found: string[] = [];
  for (const operation of operations) {
    onProgress?.(operation.id);
    if (!world.isRunning) {
      break;
    }
    found.push(...(await findGrowth(world, operation)));
  }
  return found;
}
