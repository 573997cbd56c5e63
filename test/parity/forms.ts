import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import type { TestService } from '../support/service.ts';

const SIZES = [1, 2, 64, 200];

/** A statement that takes one input or many. */
export interface Operation<Input, Output> {
  name: string;
  /** Makes so many inputs, each unlike the others in as many fields as can be. */
  inputs: (count: number) => Input[];
  run: (db: Database, inputs: Input[]) => Promise<Output[]>;
  /** What must have been answered and stored, told from the inputs alone. */
  check: (db: Database, inputs: Input[], outputs: Output[]) => Promise<void>;
  /** The table that it writes, with the key that its rows are sorted by. */
  writes?: { table: string; key: string[]; without?: string[] };
  /** Brings the table to where each run begins; it empties it. */
  prepare?: (db: Database, inputs: Input[]) => Promise<void>;
  /** Sorts outputs that come in no order. */
  order?: (a: Output, b: Output) => number;
  /** The inputs that a cluster takes in one statement; one. */
  clusterGroups?: (inputs: Input[]) => Input[][];
}

/**
 * Runs an operation in each of its forms with the same inputs: each input by itself, all together, and as a cluster takes them. Each
 * form is compared with what the inputs say, and with the others row by row.
 */
export function holdFormsTogether<Input, Output>(
  service: () => TestService,
  operation: Operation<Input, Output>,
): void {
  const { name, inputs, run, check, prepare, order, clusterGroups = alone } = operation;
  for (const size of SIZES) {
    it(`${name}: ${size} at once leave what each by itself leaves, on one node and on a cluster`, async () => {
      const { db } = service().database;
      const cluster = createDatabase({ url: service().database.url, poolSize: 2, layout: 'cluster' });
      try {
        const all = inputs(size);
        const seen = [];
        for (const [on, groups] of [
          [db, alone(all)],
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
          seen.push({ outputs, stored: await rowsOf(db, operation) });
        }
        assert.deepEqual(seen[1], seen[0], 'together as alone');
        assert.deepEqual(seen[2], seen[0], 'on a cluster as alone');
      } finally {
        await cluster.destroy();
      }
    });
  }
}

function alone<Input>(inputs: Input[]): Input[][] {
  return inputs.map((input) => [input]);
}

async function empty(db: Database, { writes }: Pick<Operation<unknown, unknown>, 'writes'>): Promise<void> {
  if (writes !== undefined) {
    await sql`DELETE FROM ${sql.table(writes.table)}`.execute(db);
  }
}

/** The rows as PostgreSQL itself writes them down; JSON columns as the text that they are. */
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
