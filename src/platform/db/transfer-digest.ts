import { sql } from 'kysely';
import type { Database } from './database.ts';
import type { TableShape } from './transfer-contents.ts';

/**
 * Number of rows of a table, and the sum of the hashes of all rows. The order of the rows does not matter, so two tables with the same rows
 * have equal digests.
 */
export interface TableDigest {
  rows: number;
  /** Sum as a decimal text, because it may exceed 2^53. */
  sum: string;
}

/**
 * Reads all rows of each table, and computes the digest of the table. Must run in a transaction that `beginTransfer` has begun, because the
 * settings of this transaction decide how values are written as text. The hash of a row is computed from its text. All versions of
 * PostgreSQL compute the same hash for a text. PostgreSQL can never change this hash, because the hash also decides in which partition of a
 * hash-partitioned table a row is stored.
 */
export async function digestTables(db: Database, tables: TableShape[]): Promise<Map<string, TableDigest>> {
  const digests = new Map<string, TableDigest>();
  for (const { name, columns } of tables) {
    const row = sql`ROW(${sql.join(columns.map((column) => sql.ref(column)))})`;
    const { rows } = await sql<TableDigest>`
      SELECT count(*) AS rows, coalesce(sum(hashtextextended(${row}::text, 0)), 0)::text AS sum FROM ${sql.ref(name)}
    `.execute(db);
    digests.set(name, rows[0] ?? { rows: 0, sum: '0' });
  }
  return digests;
}
