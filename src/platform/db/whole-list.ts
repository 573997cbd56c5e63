import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database, DB } from './database.ts';

/** List of any length, newest row first, that a partner reads as a whole or in pages with numbers. */
export interface WholeList<Row> {
  readBatch: (afterId: string | null, limit: number) => Promise<Row[]>;
  readPage: (offset: number, limit: number) => Promise<{ count: number; results: Row[] }>;
}

const ID = sql.ref<string>('id');

/** Makes a list of a query without order and columns. To count and to skip rows, PostgreSQL reads only ids from an index. */
export function wholeList<Table extends keyof DB, Row>(
  db: Database,
  list: SelectQueryBuilder<DB, Table, object>,
  select: (list: SelectQueryBuilder<DB, Table, object>) => SelectQueryBuilder<DB, Table, Row>,
): WholeList<Row> {
  const rows = select(list).orderBy(ID, 'desc');
  // The order makes the planner read an index. Without it, a count would read the whole table if most of its rows are in the list.
  const ids = list.select(ID.as('id')).orderBy(ID, 'desc');
  return {
    readBatch: (afterId, limit) => (afterId === null ? rows : rows.where(ID, '<', afterId)).limit(limit).execute(),
    async readPage(offset, limit) {
      const counted = await sql<{ count: number }>`SELECT count(*) FROM ${ids} AS "list"`.execute(db);
      const count = counted.rows[0]?.count ?? 0;
      const page = sql<boolean>`${ID} = ANY (ARRAY(SELECT id FROM ${ids} AS "list" OFFSET ${offset} LIMIT ${limit}))`;
      return { count, results: offset < count ? await rows.where(page).execute() : [] };
    },
  };
}
