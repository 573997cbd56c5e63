import type pg from 'pg';
import { connect } from '../sql.ts';

/** A row as PostgreSQL writes it in text. */
export type TextRow = Record<string, string | null>;

const asText = { getTypeParser: () => String };

/** The row of a table with this id, which the service wrote: the floors write the same. */
export async function readRow(client: pg.Client, table: string, tenantId: number, id: string): Promise<TextRow> {
  const { rows } = await client.query<TextRow>({
    text: `SELECT * FROM ${table} WHERE tenant_id = $1 AND id = $2`,
    values: [tenantId, id],
    types: asText,
  });
  const [row] = rows;
  if (row === undefined) {
    throw new Error(`There is no such row in ${table}.`);
  }
  return row;
}

/** A prepared insert of rows like this one. */
export function insertInto(table: string, row: TextRow): { name: string; text: string } {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  return { name: table, text: `INSERT INTO ${table} (${columns.join()}) VALUES (${places.join()})` };
}

export async function connectMany(url: string, count: number): Promise<pg.Client[]> {
  return await Promise.all(Array.from({ length: count }, () => connect(url)));
}
