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
  /** A run with the same seed sends the same cases, except for ids. */
  seed: number;
  /** Name of the only target to fuzz, for example the id of an operation. */
  only?: string | undefined;
  print?: (line: string) => void;
}

/** A target of the fuzzer: an operation, a path without an operation, or raw bytes on a socket. */
interface Target {
  name: string;
  operation: Operation | null;
  weight: number;
  cases: fc.Arbitrary<Case>;
  named: (seed: number) => NamedCases<Case>;
}

const BODY_WEIGHT = 3;
const RAW_WEIGHT = 10;
/** Parts of a target's cases that have an input of `NamedCases`. The remaining cases are random. */
const PROMISED_SHARE = 0.4;
const OTHERS_SHARE = 0.2;
/** Minimum number of cases of a complete run, which must reach all expected statuses, and measures how times grow with the body. */
const WHOLE_RUN_CASES = 15_000;
const SHRINK_LIMIT_MS = 20_000;
const MOST_FAILURES = 10;

/** Starts a service, fuzzes it, and returns descriptions of the faults. */
export async function fuzz({ cases, seed, only, print = () => {} }: FuzzOptions): Promise<string[]> {
  const operations = await readOperations();
  const targets = targetsOf(operations).filter(({ name }) => [undefined, name].includes(only));
  if (targets.length === 0) {
    throw new Error(`There is no target "${only}". Use the id of an operation.`);
  }
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const isWhole = cases >= WHOLE_RUN_CASES;
  const world = await World.open();
  try {
    const judge = new Judge(world, operations);
    const failures: string[] = [];
    const isOver = () => failures.length >= MOST_FAILURES || !world.isRunning;
    for (const [index, target] of targets.entries()) {
      const share = Math.max(1, Math.round((cases * target.weight) / weights));
      // With the same seed, similar operations would get the same cases.
      const { faults, statuses } = await fuzzTarget(world, judge, target, share, seed + index);
      print(
        `${target.name}: ${share} cases, ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
      );
      const again = `  again: npm run test:fuzz -- --only '${target.name}' --cases ${share} --seed ${seed + index}`;
      failures.push(...faults.map((fault) => `${target.name}: ${fault}\n${again}`));
      if (isOver() || !(await judge.isAlive())) {
        break;
      }
      if (isWhole && target.operation !== null) {
        failures.push(...unseen(target.operation, statuses).map((status) => `${target.name}: no case got ${status}`));
      }
    }
    await world.restore();
    for (const { operation } of isWhole || only !== undefined ? targets : []) {
      failures.push(...(operation === null || isOver() ? [] : await findGrowth(world, operation)));
    }
    return [...failures, ...(await judge.stillServes())];
  } finally {
    hangUp();
    await world.close();
  }
}

function targetsOf(operations: Operation[]): Target[] {
  const target = (operation: Operation) => ({
    name: operation.id,
    weight: operation.body === null ? 1 : BODY_WEIGHT,
    cases: requestsTo(operation),
    named: (seed: number) => namedRequests(operation, seed),
  });
  const raw = { promised: namedRawCases, others: [] };
  return [
    ...operations.map((operation) => ({ ...target(operation), operation })),
    ...['/livez/', '/readyz/', '/v1/{anything}/'].map((path) => ({ ...target(undocumented(path)), operation: null })),
    { name: 'raw sockets', operation: null, weight: RAW_WEIGHT, cases: rawCases, named: () => raw },
  ];
}

/** Makes an operation of a path that is in no OpenAPI document, so that the fuzzer can call this path too. */
function undocumented(path: string): Operation {
  const name = /\{(\w+)\}/.exec(path)?.[1];
  const parameter = { in: 'path' as const, required: true, schema: { type: 'string' } };
  return {
    id: path,
    method: 'GET',
    path,
    parameters: name === undefined ? [] : [{ ...parameter, name }],
    schemes: [],
    isConsoleOnly: false,
    body: null,
    answers: new Map(),
    hasCsv: false,
    emptyStatuses: new Set(),
  };
}

/**
 * Sends the cases of one target. If a case fails, searches for the smallest case that still fails.
 * @returns the faults of this case and of the log of the service, and the number of responses by status
 */
async function fuzzTarget(world: World, judge: Judge, target: Target, share: number, seed: number) {
  await world.restore();
  await world.restock(target.operation?.path ?? '');
  const statuses = new Map<string, number>();
  let failedAtMs: number | null = null;
  const property = fc.asyncProperty(target.cases, async (each) => {
    if (failedAtMs !== null && (!world.isRunning || performance.now() - failedAtMs > SHRINK_LIMIT_MS)) {
      return;
    }
    const judged = await judge.judge(each);
    for (const status of judged.statuses.map((code) => (code >= 200 && code < 300 ? '2xx' : String(code)))) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    if (judged.faults.length > 0) {
      failedAtMs ??= performance.now();
      throw new Error(judged.faults.join('; '));
    }
  });
  const { promised, others } = target.named(seed);
  const named = [...spread(promised, share * PROMISED_SHARE, seed), ...spread(others, share * OTHERS_SHARE, seed)];
  const examples = named.map((each): [Case] => [each]);
  const { counterexample, errorInstance } = await fc.check(property, { numRuns: share, seed, examples });
  const [each] = counterexample ?? [];
  const found = each === undefined ? [] : [failureOf(String(errorInstance), each)];
  return { faults: [...found, ...judge.logFaults()], statuses };
}

/** Returns about `most` elements, spread evenly over the list. The seed decides which elements these are. */
function spread<T>(all: T[], most: number, seed: number): T[] {
  const stride = Math.max(1, all.length / most);
  const offset = seed % Math.ceil(stride);
  return all.filter((_, index) => Math.floor((index + offset) / stride) !== Math.floor((index + offset - 1) / stride));
}

/** Returns the expected statuses that no response had. The run has not tested the code that sends them. */
function unseen({ schemes, parameters, body }: Operation, seen: Map<string, number>): string[] {
  const due = [
    '2xx',
    ...(schemes.length > 0 ? ['401'] : []),
    ...(body !== null || parameters.length > 0 ? ['400'] : []),
    ...(parameters.some((parameter) => parameter.in === 'path') ? ['404'] : []),
    ...(body === null ? [] : ['413', '415']),
  ];
  return due.filter((status) => !seen.has(status));
}
