import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import type { IdRange } from './list-tallies.ts';
import { readTalliedPage, type Tallied } from './tallied-page.ts';
import { executeWithoutTableScan } from './transaction.ts';
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

/**
 * Order of a list. No two rows have the same position in the order. An index should have the same order, so that PostgreSQL reads a page
 * without sorting the whole list.
 */
export interface ListOrder {
  sort: <Table extends keyof DB, Row>(rows: Rows<Table, Row>) => Rows<Table, Row>;
  /** Selects the rows that come after the row with this id. */
  after: <Table extends keyof DB, Row>(rows: Rows<Table, Row>, id: string) => Rows<Table, Row>;
  /**
   * First column of the order, if it is not the id. The column must have few different values, for example days. The reason is that some
   * lists find a page by counting the rows of each value of this column (`readGroupedPage`).
   */
  firstColumn?: string;
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
 * Method of counting all rows of a list, and of skipping the rows before a page.
 *
 * - `in order`: scans an index that finds the rows of the list in the order of the list.
 * - `few`: reads the ids of all rows of the list. Used for a short list whose rows an index finds, for example the reservations of one
 *   guest name.
 * - `covered`: scans an index that contains all columns of the conditions of the list. Used even if the index and the list have different
 *   orders.
 * - `tallied`: adds stored counts of parts of the list, so a page of a long list is fast too. Used for a list in the order of its ids.
 */
export type PageForm<Table extends keyof DB> =
  | { form: 'in order' }
  | {
      form: 'few' | 'covered';
      /**
       * Query for the rows of the list, without an order and without columns. Its conditions must let PostgreSQL use an index. The form
       * `few` is for a list with few rows, and needs an index that finds these rows. The form `covered` needs an index that contains all
       * columns of the conditions.
       */
      rows: Rows<Table, object>;
    }
  | { form: 'tallied'; tallied: Tallied };

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
  pages: PageForm<Table> = { form: 'in order' },
): KeysetList<Row> {
  const rows = order.sort(select(list));
  const idsOf = (those: Rows<Table, object>) => those.select(ID.as('id'));
  const readBatch = (afterId: string | null, limit: number, range?: IdRange) => {
    const remaining = afterId === null ? rows : order.after(rows, afterId);
    const { fromId, beforeId } = range ?? {};
    return (range === undefined ? remaining : within(remaining, sql`${fromId}::uuid`, sql`${beforeId}::uuid`))
      .limit(limit)
      .execute();
  };
  if (pages.form === 'tallied') {
    const between = (fromId: RawBuilder<unknown>, beforeId: RawBuilder<unknown>) =>
      within(idsOf(list), fromId, beforeId);
    const ids = { between, inOrder: (...bounds: Parameters<typeof between>) => order.sort(between(...bounds)) };
    const tallied = { ...pages.tallied, isNewestFirst: order === NEWEST_FIRST };
    return { readBatch, readPage: (...page) => readTalliedPage(db, tallied, ids, page, readBatch) };
  }
  if (pages.form === 'few') {
    const ids = order.sort(idsOf(pages.rows).select(sql<number>`(count(*) OVER ())::int4`.as('count')));
    const readRows = (found: string[]) => rows.where(sql<boolean>`${ID} = ANY (${found}::uuid[])`).execute();
    return { readBatch, readPage: (...page) => readPageOfFew(ids, page, readRows) };
  }
  const readAfter = (id: string | null, limit: number) => readBatch(id, limit);
  if (pages.form === 'covered') {
    const { firstColumn } = order;
    if (firstColumn === undefined) {
      const ids = { inAnyOrder: idsOf(pages.rows), inOrder: order.sort(idsOf(pages.rows)) };
      return { readBatch, readPage: (...page) => readCoveredPage(db, ids, page, readAfter) };
    }
    const column = sql.ref(firstColumn);
    const values = pages.rows.select(column.as('value'));
    const idsWith = (value: string) => order.sort(idsOf(pages.rows.where(sql<boolean>`${column} = ${value}`)));
    return { readBatch, readPage: (...page) => readGroupedPage(db, { values, idsWith }, page, readAfter) };
  }
  const sorted = { newestFirst: NEWEST_FIRST.sort(idsOf(list)), inOrder: order.sort(idsOf(list)) };
  return { readBatch, readPage: (...page) => readPageInOrder(db, sorted, page, readAfter) };
}

function within<Table extends keyof DB, Row>(
  rows: Rows<Table, Row>,
  fromId: RawBuilder<unknown>,
  beforeId: RawBuilder<unknown>,
): Rows<Table, Row> {
  return rows.where(sql<boolean>`${ID} >= ${fromId} AND ${ID} < ${beforeId}`);
}

/** Selects the rows after the row with the given id, oldest row first. If the id is null, selects all rows. */
export function afterIdInOrder<Table extends keyof DB, Row>(
  rows: Rows<Table, Row>,
  afterId: string | null,
): Rows<Table, Row> {
  return (afterId === null ? rows : rows.where(ID, '>', afterId)).orderBy(ID);
}

/**
 * Reads one page of a list, and the number of rows in the whole list. To skip the rows before the page, PostgreSQL reads only their ids
 * from an index, and not the rows themselves from the table. For example, the last page of a list with a million rows scans a million ids
 * in the index, but reads only the rows of the page from the table.
 * @param ids two queries for all ids of the list. `inOrder` has the order of the list, and is used to find the row before the page.
 * `newestFirst` (`SELECT id … ORDER BY id DESC`) is used to count the rows. A count needs no order, but this order makes the planner use an
 * index. Without an order, the planner would read the whole table if most rows of the table are in the list.
 * @param readAfter reads the rows of one page after the given id. If the id is null, reads from the start of the list.
 */
async function readPageInOrder<Row>(
  db: Database,
  ids: Record<'newestFirst' | 'inOrder', Expression<unknown>>,
  [offset, limit]: [offset: number, limit: number],
  readAfter: (id: string | null, limit: number) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const counting = sql<{ count: number }>`SELECT count(*) FROM ${ids.newestFirst} AS "list"`.execute(db);
  const [{ rows }, before] = await Promise.all([counting, offset === 0 ? null : idBefore(db, ids.inOrder, offset)]);
  return { count: rows[0]?.count ?? 0, results: before === undefined ? [] : await readAfter(before, limit) };
}

/** Returns the id of the row before the page. Returns undefined if the list ends before the page. */
async function idBefore(db: Database, ids: Expression<unknown>, offset: number): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM ${ids} AS "list" OFFSET ${offset - 1} LIMIT 1
  `.execute(db);
  return rows[0]?.id;
}

/**
 * Reads one page as `readPageInOrder` does, but with a covering index that also contains rows outside the list. One statement counts the
 * rows of the list and finds the row before the page, with two scans of the index. One scan with `row_number()` would take 40 % longer.
 * @param ids two queries for the ids of all rows of the list. The query `inAnyOrder` has no order, and is used to count the rows. The query
 * `inOrder` has the order of the list, and is used to find the row before the page.
 */
async function readCoveredPage<Row>(
  db: Database,
  ids: Record<'inAnyOrder' | 'inOrder', Expression<unknown>>,
  [offset, limit]: [offset: number, limit: number],
  readAfter: (id: string | null, limit: number) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const before = offset === 0 ? sql`NULL` : sql`(SELECT id FROM ${ids.inOrder} AS "list" OFFSET ${offset - 1} LIMIT 1)`;
  const { rows } = await executeWithoutTableScan(
    db,
    sql<{ count: number; before: string | null }>`
      SELECT (SELECT count(*) FROM ${ids.inAnyOrder} AS "list") AS count, ${before} AS before`,
  );
  const [page = { count: 0, before: null }] = rows;
  const isPastEnd = offset > 0 && page.before === null;
  return { count: page.count, results: isPastEnd ? [] : await readAfter(page.before, limit) };
}

/**
 * Reads one page as `readCoveredPage` does, but of a list in another order than the order of its ids. The function groups the rows by the
 * value of the first column of the order, for example by day. It counts the rows of each group. The counts tell which group contains the
 * last row before the page. To find this row, the function sorts only the rows of this group. The page is then read from this row on, also
 * into the next groups.
 */
async function readGroupedPage<Row>(
  db: Database,
  { values, idsWith }: { values: Expression<unknown>; idsWith: (value: string) => Expression<unknown> },
  [offset, limit]: [offset: number, limit: number],
  readAfter: (id: string | null, limit: number) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const { rows: groups } = await executeWithoutTableScan(
    db,
    sql<{ value: string; count: number }>`
      SELECT value::text AS value, count FROM (SELECT value, count(*) AS count FROM ${values} AS "list" GROUP BY value) AS grouped
      ORDER BY grouped.value`,
  );
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  if (offset === 0 || offset > count) {
    return { count, results: offset === 0 ? await readAfter(null, limit) : [] };
  }
  let first = 0; // Number of rows in all earlier groups.
  for (const { value, count: inGroup } of groups) {
    if (offset <= first + inGroup) {
      const before = await idBefore(db, idsWith(value), offset - first);
      return { count, results: before === undefined ? [] : await readAfter(before, limit) };
    }
    first += inGroup;
  }
  return { count, results: [] };
}

/**
 * Reads one page of a list with few rows. One statement finds the ids of the page and counts all rows of the list.
 * @param ids query for the ids of all rows of the list, in the order of the list. Each row that the query returns also has the number of
 * rows in the whole list.
 */
async function readPageOfFew<Row>(
  ids: Rows<keyof DB, { id: string; count: number }>,
  [offset, limit]: [offset: number, limit: number],
  readRows: (ids: string[]) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const found = await ids.offset(offset).limit(limit).execute();
  if (found.length > 0) {
    return { count: found[0]?.count ?? 0, results: await readRows(found.map(({ id }) => id)) };
  }
  const first = offset === 0 ? undefined : await ids.limit(1).executeTakeFirst();
  return { count: first?.count ?? 0, results: [] };
}
