import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { openChecked } from '../routing/service-database.ts';
import type { TestService } from '../../support/service.ts';

const RUNS = 12;

/** A function of a store that takes a list of inputs. */
export interface Operation<Input, Output> {
  /** Name of the operation, for example `insert of orders`. */
  name: string;
  input: fc.Arbitrary<Input>;
  /** A list of inputs has at most one input with the same key. By default, the key is the whole input. */
  key?: (input: Input) => unknown;
  tenantIdOf: (input: Input) => number;
  /** Returns one output for each input, in the order of the inputs. */
  run: (db: Database, inputs: Input[]) => Promise<Output[]>;
  /** Tables that the operation writes. They are emptied before each run, and their rows are compared after it. */
  tables?: string[];
  /** Columns that are not compared, because they are times of the database. */
  without?: string[];
  /** Writes the rows that must exist before a run, when the tables are empty. */
  prepare?: (db: Database) => Promise<void>;
}

/**
 * Defines the test that one call with many inputs has the same outputs, and writes the same rows, as one call for each input. A call on a
 * cluster has the inputs of one tenant. So one more run sends the statements for a cluster, with one call for each tenant.
 */
export function manyEqualsEach<Input, Output>(service: () => TestService, operation: Operation<Input, Output>): void {
  const { name, input, key = (each) => each, tenantIdOf } = operation;
  it(`${name}: one call for many inputs, or for those of each tenant, equals one call for each input`, async () => {
    const { db, url } = service().database;
    const cluster = openChecked(url, 'cluster');
    const inputs = fc.uniqueArray(input, {
      minLength: 1,
      maxLength: 24,
      selector: (each) => JSON.stringify(key(each)),
    });
    const property = fc.asyncProperty(inputs, async (all) => {
      const indexes = [...all.keys()];
      const eachAlone = indexes.map((index) => [index]);
      const byTenant = [...Map.groupBy(indexes, (index) => tenantIdOf(all[index] as Input)).values()];
      const expected = await outcomeOf(db, db, operation, all, eachAlone);
      assert.deepEqual(await outcomeOf(db, db, operation, all, [indexes]), expected);
      assert.deepEqual(await outcomeOf(cluster.db, db, operation, all, byTenant), expected, 'on a cluster');
    });
    try {
      await fc.assert(property, { numRuns: RUNS });
    } finally {
      await cluster.close();
    }
  });
}

/**
 * Runs the calls on the database `on`. Returns the outputs in the order of the inputs, and the rows of the tables as text.
 * @param calls one list for each call, with the positions of its inputs in `inputs`
 */
async function outcomeOf<Input, Output>(
  on: Database,
  db: Database,
  { run, prepare, tables = [], without = [] }: Operation<Input, Output>,
  inputs: Input[],
  calls: number[][],
) {
  for (const table of tables) {
    await sql`DELETE FROM ${sql.table(table)}`.execute(db);
  }
  await prepare?.(db);
  const outputs: Output[] = [];
  for (const indexes of calls) {
    const ofCall = indexes.map((index) => inputs[index] as Input);
    const made = await run(on, ofCall);
    indexes.forEach((index, position) => (outputs[index] = made[position] as Output));
  }
  const rows: string[] = [];
  for (const table of tables) {
    // `lines` is the text of a JSON column. As jsonb, it would lose its spaces and repeated keys.
    const stored = await sql<{ row: string }>`
      SELECT (row_to_json(t)::jsonb - ${without}::text[])::text || coalesce(row_to_json(t) ->> 'lines', '') AS row
      FROM ${sql.table(table)} AS t ORDER BY 1
    `.execute(db);
    rows.push(...stored.rows.map(({ row }) => row));
  }
  return { outputs, rows };
}
