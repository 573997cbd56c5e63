import { type AliasableExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import type { DB } from './types.ts';

/** List of any length, newest row first or in another order, that is read in batches or pages. */
export interface KeysetList<Row> {
  /** Reads the rows after the row with the given id. If the id is null, reads from the start of the list. */
  readBatch: (afterId: string | null, limit: number) => Promise<Row[]>;
  /** Reads one page, and the number of rows in the whole list. */
  readPage: (offset: number, limit: number) => Promise<{ count: number; results: Row[] }>;
}

const ID = sql.ref<string>('id');

type Rows<Table extends keyof DB, Row> = SelectQueryBuilder<DB, Table, Row>;

/** Order of a list. No two rows may be equal in it. An index should have the same order. */
export interface ListOrder {
  sort: <Table extends keyof DB, Row>(rows: Rows<Table, Row>) => Rows<Table, Row>;
  /** Selects the rows that come after the row with this id. */
  after: <Table extends keyof DB, Row>(rows: Rows<Table, Row>, id: string) => Rows<Table, Row>;
}

/** Descending order of the ids. The newest row comes first, because later rows have greater ids. */
export const NEWEST_FIRST: ListOrder = {
  sort: (rows) => rows.orderBy(ID, 'desc'),
  after: (rows, id) => rows.where(ID, '<', id),
};

/** Ascending order of the ids. The oldest row comes first. */
export const OLDEST_FIRST: ListOrder = {
  sort: (rows) => rows.orderBy(ID),
  after: (rows, id) => rows.where(ID, '>', id),
};

/**
 * Makes a list, newest row first or in another order.
 * @param list query for the rows of the list, without an order and without columns
 * @param select adds the columns to the query
 */
export function keysetList<Table extends keyof DB, Row>(
  db: Database,
  list: Rows<Table, object>,
  select: (list: Rows<Table, object>) => Rows<Table, Row>,
  order: ListOrder = NEWEST_FIRST,
): KeysetList<Row> {
  const rows = order.sort(select(list));
  const readBatch = (afterId: string | null, limit: number) =>
    (afterId === null ? rows : order.after(rows, afterId)).limit(limit).execute();
  const ids = list.select(ID.as('id'));
  const sorted = { newestFirst: NEWEST_FIRST.sort(ids), inOrder: order.sort(ids) };
  return { readBatch, readPage: (offset, limit) => readPage(db, sorted, offset, (id) => readBatch(id, limit)) };
}

/** Selects the rows after the row with the given id, oldest row first. If the id is null, selects all rows. */
export function afterIdInOrder<Table extends keyof DB, Row>(
  rows: Rows<Table, Row>,
  afterId: string | null,
): Rows<Table, Row> {
  return (afterId === null ? rows : rows.where(ID, '>', afterId)).orderBy(ID);
}

/**
 * Reads one page of a list, and the number of rows in the whole list. Skips the rows before the page in an index, without reading them from
 * the table. For example, the last page of a list with a million rows scans a million ids in the index, but reads only the rows of the page
 * from the table.
 * @param ids ids of the whole list: `SELECT id … ORDER BY id DESC`, and the same in the order of the list. The first one counts the rows.
 * Its order makes the planner use an index. Without the order, the planner would read the whole table if most of its rows are in the list.
 * @param readAfter reads the rows of one page after the given id. If the id is null, reads from the start of the list.
 */
async function readPage<Row>(
  db: Database,
  ids: Record<'newestFirst' | 'inOrder', AliasableExpression<{ id: string }>>,
  offset: number,
  readAfter: (id: string | null) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const [count, before] = await Promise.all([countOf(db, ids.newestFirst), idBefore(db, ids.inOrder, offset)]);
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
