import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { openChecked } from '../routing/service-database.ts';
import type { TestService } from '../support/service.ts';

const SIZES = [1, 2, 64, 200];

/** A database operation that a test runs with one input or with several inputs in each call. */
export interface Operation<Input, Output> {
  /** Name of the operation, for example `insert of orders`. The names of the tests of the operation begin with it. */
  name: string;
  /** Returns `count` inputs that differ from each other in as many fields as possible. */
  inputs: (count: number) => Input[];
  run: (db: Database, inputs: Input[]) => Promise<Output[]>;
  /** Asserts that the outputs and the stored rows are the expected outputs and rows for the inputs. */
  check: (db: Database, inputs: Input[], outputs: Output[]) => Promise<void>;
  /**
   * Table that the operation or `prepare` writes. The tests empty it before each run, and compare its rows after each
   * run. `key` names the columns that sort the rows, and `without` names the columns that are not compared.
   */
  writes?: { table: string; key: string[]; without?: string[] };
  /** Writes the rows that must exist before a run. The table is empty when this function is called. */
  prepare?: (db: Database, inputs: Input[]) => Promise<void>;
  /** Compares two outputs to sort them. It is needed if the operation returns its outputs in no fixed order. */
  order?: (a: Output, b: Output) => number;
  /**
   * Returns the id of the tenant to which an input belongs. If an operation has this function, a call on a cluster gets only inputs of one
   * tenant. If this function is missing, one call may get the inputs of all tenants.
   */
  tenantIdOf?: (input: Input) => number;
}

/**
 * Defines tests that run an operation four times with the same inputs. Two runs use the statements for one node: one input in each call,
 * and all inputs in one call. Two runs use the statements for a cluster: one input in each call, and all inputs of one tenant in each call.
 * The outputs and stored rows must be correct after each run, and equal in all runs.
 */
export function testEachForm<Input, Output>(service: () => TestService, operation: Operation<Input, Output>): void {
  const { name, inputs, check, prepare, tenantIdOf = () => 0 } = operation;
  for (const size of SIZES) {
    it(`${name}: with ${size} inputs, batched calls and single calls have the same outcome, and the statements for one node and for a cluster have the same outcome`, async () => {
      const { db } = service().database;
      const { db: cluster, close } = openChecked(service().database.url, 'cluster');
      try {
        const all = inputs(size);
        const oneByOne = all.map((_, index) => [index]);
        const together = [[...all.keys()]];
        const byTenant = [...Map.groupBy(all.keys(), (index) => tenantIdOf(all[index] as Input)).values()];
        const outcomes = [];
        for (const [on, calls] of [
          [db, oneByOne],
          [db, together],
          [cluster, oneByOne],
          [cluster, byTenant],
        ] as const) {
          await empty(db, operation);
          await prepare?.(db, all);
          const outputs = await runCalls(on, operation, all, calls);
          await check(db, all, outputs);
          outcomes.push({ outputs, stored: await rowsOf(db, operation) });
        }
        const [single, batch, singleOnCluster, batchOnCluster] = outcomes;
        assert.deepEqual(batch, single, 'a batch has the same outcome as single calls');
        assert.deepEqual(singleOnCluster, single, 'single calls on a cluster have the same outcome');
        assert.deepEqual(batchOnCluster, single, 'a batch of each tenant on a cluster has the same outcome');
      } finally {
        await close();
      }
    });
  }
}

/**
 * Calls an operation several times.
 * @param calls one list for each call, which has the positions of the call's inputs in `inputs`
 * @returns the outputs of all calls, in the order of the inputs. If the operation has a function `order`, the outputs are sorted by this
 * function instead
 */
async function runCalls<Input, Output>(
  db: Database,
  { run, order }: Operation<Input, Output>,
  inputs: Input[],
  calls: number[][],
): Promise<Output[]> {
  const outputs: { index: number; output: Output }[] = [];
  for (const call of calls) {
    const returned = await run(
      db,
      call.map((index) => inputs[index] as Input),
    );
    outputs.push(...returned.map((output, position) => ({ index: call[position] ?? 0, output })));
  }
  return outputs
    .sort((a, b) => (order === undefined ? a.index - b.index : order(a.output, b.output)))
    .map(({ output }) => output);
}

async function empty(db: Database, { writes }: Pick<Operation<unknown, unknown>, 'writes'>): Promise<void> {
  if (writes !== undefined) {
    await sql`DELETE FROM ${sql.table(writes.table)}`.execute(db);
  }
}

/**
 * Returns each row of the table as text, so that the test can compare the rows of two runs. The text is jsonb. In a JSON column, jsonb
 * hides differences in the spaces, the order of the keys and repeated keys. But these differences matter in the column `lines` (the lines
 * of an order). So if the table has this column, its stored text is added at the end.
 */
async function rowsOf(db: Database, { writes }: Pick<Operation<unknown, unknown>, 'writes'>): Promise<string[]> {
  if (writes === undefined) {
    return [];
  }
  const { table, key, without = [] } = writes;
  const { rows } = await sql<{ row: string }>`
    SELECT (row_to_json(stored)::jsonb - ${without}::text[])::text || coalesce(row_to_json(stored) ->> 'lines', '') AS row
    FROM ${sql.table(table)} AS stored ORDER BY ${sql.join(key.map((name) => sql.id(name)))}
  `.execute(db);
  return rows.map(({ row }) => row);
}
