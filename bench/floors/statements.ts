import type pg from 'pg';
import { connect } from '../sql.ts';

/** Row of a table, by column name. Each value is in PostgreSQL's text form. */
export type TextRow = Record<string, string | null>;

const asText = { getTypeParser: () => String };

/**
 * Reads a row that the service wrote, so that a floor (baseline program) can write copies of it.
 * @throws Error if the row does not exist
 */
export async function readRow(client: pg.Client, table: string, tenantId: number, id: string): Promise<TextRow> {
  const { rows } = await client.query<TextRow>({
    text: `SELECT * FROM ${table} WHERE tenant_id = $1 AND id = $2`,
    values: [tenantId, id],
    types: asText,
  });
  const [row] = rows;
  if (row === undefined) {
    throw new Error(`The table ${table} has no row with the id ${id} of tenant ${tenantId}.`);
  }
  return row;
}

/** Returns a prepared INSERT for rows with the same columns as the given row. */
export function insertInto(table: string, row: TextRow): { name: string; text: string } {
  const columns = Object.keys(row);
  const parameters = columns.map((_, index) => `$${index + 1}`);
  return { name: table, text: `INSERT INTO ${table} (${columns.join()}) VALUES (${parameters.join()})` };
}

/** Opens `count` connections to a database. */
export async function connectMany(url: string, count: number): Promise<pg.Client[]> {
  return await Promise.all(Array.from({ length: count }, () => connect(url)));
}
