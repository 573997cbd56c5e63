// `npm run bench` measures operations of the service and prints tables of the results. It compares most operations with a floor: a small
// program that does the same work without the service, at the lowest possible cost. The benchmark measures an operation and its floor
// alternately.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CostRow, renderCostTable } from './cost-table.ts';
import type { Operation } from './operations/operation.ts';
import { OPERATIONS } from './operations/operations.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { openPostgres } from './postgres.ts';
import { type ProcessRow, renderProcessTable } from './process-table.ts';
import { tell } from './progress.ts';
import { type QueueRow, renderQueueTable } from './queue-table.ts';
import { renderTable, type Row } from './table.ts';
import { World } from './world.ts';

/** Row of one of the results tables. */
type AnyRow = Row | QueueRow | ProcessRow | CostRow;

const INTERRUPTED = 130;

const options = readOptionsOrExit(process.argv.slice(2));
const operations = chosen(options.only);
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => interruption.abort());
}
const rows = await run(options, operations);
if (rows === null) {
  // SIGINT or SIGTERM has interrupted the benchmark, and `run` has stopped all child processes. The interrupted measurement may still wait
  // for the response of a stopped child process, which never comes. So `process.exit` ends the benchmark.
  process.exit(INTERRUPTED);
}
const tables = renderTables(rows);
const path = options.out ?? join(tmpdir(), 'roomservice-bench.md');
await writeFile(path, `${tables}\n`);
console.log(tables);
tell(`The results were written to ${path}`);

/**
 * Runs the chosen operations. Returns the rows that the operations have measured, or null if a signal interrupted the run. In both cases,
 * stops every process that the run has started.
 */
async function run(chosenOptions: Options, chosenOperations: Operation[]): Promise<AnyRow[] | null> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await openPostgres(chosenOptions.isFull));
  const world = new World(chosenOptions, postgres, resources);
  const interrupted = once(interruption.signal, 'abort').then(() => null);
  return await Promise.race([measure(world, chosenOperations), interrupted]);
}

async function measure(world: World, chosenOperations: Operation[]): Promise<AnyRow[]> {
  const measured: AnyRow[] = [];
  for (const operation of chosenOperations) {
    tell(operation.name);
    try {
      measured.push(...(await operation.measure(world)));
    } catch (error) {
      interruption.signal.throwIfAborted();
      // If an operation fails, the benchmark continues with the other operations, but in the end it exits with status 1.
      process.exitCode = 1;
      console.error(error);
      measured.push({ operation: operation.name, note: `FAILED: ${(error as Error).message.split('\n')[0]}` });
    }
  }
  return measured;
}

/** Returns the rows as up to four tables. Each type of row has its own table, because the types have different columns. */
function renderTables(measured: AnyRow[]): string {
  const queueRows = measured.filter((row) => 'sender' in row);
  const processRows = measured.filter((row) => 'work' in row);
  const costRows = measured.filter((row) => 'call' in row);
  const otherRows = measured.filter((row) => 'operation' in row);
  return [
    ...(otherRows.length > 0 ? [renderTable(otherRows)] : []),
    ...(queueRows.length > 0 ? [renderQueueTable(queueRows)] : []),
    ...(processRows.length > 0 ? [renderProcessTable(processRows)] : []),
    ...(costRows.length > 0 ? [renderCostTable(costRows)] : []),
  ].join('\n\n');
}

function readOptionsOrExit(args: string[]): Options {
  try {
    return readOptions(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function chosen(only: string[]): Operation[] {
  const found = OPERATIONS.filter(({ name, isOnlyOnRequest = false }) =>
    only.length === 0 ? !isOnlyOnRequest : only.some((start) => name.startsWith(start)),
  );
  if (found.length === 0) {
    console.error(
      `No operation matches the option --only. The operations are: ${OPERATIONS.map(({ name }) => name).join(', ')}`,
    );
    process.exit(2);
  }
  return found;
}
