import { type AliasableExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import type { DB } from './types.ts';

/** Order of a list by its ids. Later rows have greater ids, so `desc` begins with the newest row, and `asc` with the oldest row. */
export type IdOrder = 'desc' | 'asc';

/** List of any length, in the order of its ids, that is read in batches or pages. */
export interface KeysetList<Row> {
  /** Reads the rows after the row with the given id. If the id is null, reads from the start of the list. */
  readBatch: (afterId: string | null, limit: number) => Promise<Row[]>;
  /** Reads one page, and the number of rows in the whole list. */
  readPage: (offset: number, limit: number) => Promise<{ count: number; results: Row[] }>;
}

const ID = sql.ref<string>('id');

/**
 * Makes a list in the order of the ids. By default, its newest row comes first.
 * @param list query for the rows of the list, without an order and without columns
 * @param select adds the columns to the query
 */
export function keysetList<Table extends keyof DB, Row>(
  db: Database,
  list: SelectQueryBuilder<DB, Table, object>,
  select: (list: SelectQueryBuilder<DB, Table, object>) => SelectQueryBuilder<DB, Table, Row>,
  order: IdOrder = 'desc',
): KeysetList<Row> {
  const rows = select(list).orderBy(ID, order);
  const readBatch = (afterId: string | null, limit: number) =>
    (afterId === null ? rows : rows.where(ID, order === 'desc' ? '<' : '>', afterId)).limit(limit).execute();
  const ids = list.select(ID.as('id')).orderBy(ID, order);
  return { readBatch, readPage: (offset, limit) => readPage(db, ids, offset, (id) => readBatch(id, limit)) };
}

/** Selects the rows after the row with the given id, oldest row first. If the id is null, selects all rows. */
export function afterIdInOrder<Table extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, Table, Row>,
  afterId: string | null,
): SelectQueryBuilder<DB, Table, Row> {
  return (afterId === null ? rows : rows.where(ID, '>', afterId)).orderBy(ID);
}

/**
 * Reads one page of a list, and the number of rows in the whole list. Skips the rows before the page in an index, without reading them from
 * the table. For example, the last page of a list with a million rows scans a million ids in the index, but reads only the rows of the page
 * from the table.
 * @param ids ids of the whole list in its order: `SELECT id … ORDER BY id DESC`. The order also makes the planner use the index to count.
 * Without the order, the planner would read the whole table if most of its rows are in the list.
 * @param readAfter reads the rows of one page after the given id. If the id is null, reads from the start of the list.
 */
async function readPage<Row>(
  db: Database,
  ids: AliasableExpression<{ id: string }>,
  offset: number,
  readAfter: (id: string | null) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const [count, before] = await Promise.all([countOf(db, ids), idBefore(db, ids, offset)]);
  return { count, results: before === undefined ? [] : await readAfter(before) };
}

async function countOf(db: Database, ids: AliasableExpression<{ id: string }>): Promise<number> {
  const { count } = await db
    .selectFrom(ids.as('list'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the id of the row before the page. Returns null for the first page, and undefined if the list ends before the page. */
async function idBefore(
  db: Database,
  ids: AliasableExpression<{ id: string }>,
  offset: number,
): Promise<string | null | undefined> {
  if (offset === 0) {
    return null;
  }
  const last = db.selectFrom(ids.as('list')).select('list.id');
  return (
    await last
      .offset(offset - 1)
      .limit(1)
      .executeTakeFirst()
  )?.id;
}
