import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import type { TestService } from '../support/service.ts';

const SIZES = [1, 2, 64, 200];

/** A database operation that takes one input or several inputs in one call. */
export interface Operation<Input, Output> {
  /** Name of the operation, which begins the name of its tests, for example `insert of orders`. */
  name: string;
  /** Returns `count` inputs that differ from each other in as many fields as possible. */
  inputs: (count: number) => Input[];
  run: (db: Database, inputs: Input[]) => Promise<Output[]>;
  /** Asserts that the outputs and the stored rows are those that the inputs must give. */
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
   * Splits the inputs into groups. On a cluster, one call of the operation takes one group. If this function is
   * missing, each input is a group.
   */
  clusterGroups?: (inputs: Input[]) => Input[][];
}

/**
 * Defines tests that run an operation three times with the same inputs: one input in each call, all inputs in one call,
 * and with the SQL statements for a database cluster. Each run is checked against its inputs, and the outputs and rows
 * of the three runs must be equal.
 */
export function testEachForm<Input, Output>(service: () => TestService, operation: Operation<Input, Output>): void {
  const { name, inputs, run, check, prepare, order, clusterGroups = oneByOne } = operation;
  for (const size of SIZES) {
    it(`${name}: ${size} inputs have the same outcome in one batch, in single calls, and with the statements for a cluster`, async () => {
      const { db } = service().database;
      const cluster = createDatabase({ url: service().database.url, poolSize: 2, layout: 'cluster' });
      try {
        const all = inputs(size);
        const outcomes = [];
        for (const [on, groups] of [
          [db, oneByOne(all)],
          [db, [all]],
          [cluster, clusterGroups(all)],
        ] as const) {
          await empty(db, operation);
          await prepare?.(db, all);
          const outputs: Output[] = [];
          for (const group of groups) {
            outputs.push(...(await run(on, group)));
          }
          if (order !== undefined) {
            outputs.sort(order);
          }
          await check(db, all, outputs);
          outcomes.push({ outputs, stored: await rowsOf(db, operation) });
        }
        assert.deepEqual(outcomes[1], outcomes[0], 'a batch has the same outcome as single calls');
        assert.deepEqual(outcomes[2], outcomes[0], 'the layout of a cluster has the same outcome as single calls');
      } finally {
        await cluster.destroy();
      }
    });
  }
}

function oneByOne<Input>(inputs: Input[]): Input[][] {
  return inputs.map((input) => [input]);
}

async function empty(db: Database, { writes }: Pick<Operation<unknown, unknown>, 'writes'>): Promise<void> {
  if (writes !== undefined) {
    await sql`DELETE FROM ${sql.table(writes.table)}`.execute(db);
  }
}

/**
 * Returns the rows of the table as JSON text. Each text ends with the exact text of the column `lines`, because the
 * conversion of the row to jsonb changes that text.
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
