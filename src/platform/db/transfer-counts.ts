import { sql } from 'kysely';
import type { Database } from './database.ts';
import type { TableShape } from './transfer-contents.ts';
import type { RowCounts } from './transfer-target.ts';

/** Counts the rows of each table. Reads every table to its end. */
export async function countRows(db: Database, tables: TableShape[]): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.ref(name)}`.execute(db);
    counts[name] = rows[0]?.count ?? 0;
  }
  return counts;
}
