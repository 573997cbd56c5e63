import { type AliasableExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import type { DB } from './types.ts';

/** A list without an upper bound, newest first, that is read piece by piece. */
export interface KeysetList<Row> {
  /** The rows after the one of the given id; null: from the start. */
  readBatch: (afterId: string | null, limit: number) => Promise<Row[]>;
  /** One page, and the length of the whole. */
  readPage: (offset: number, limit: number) => Promise<{ count: number; results: Row[] }>;
}

const ID = sql.ref<string>('id');

/**
 * A list by id, newest first: ids are made in the order of time.
 * @param list which rows are in it, without an order or columns
 * @param select chooses the columns
 */
export function keysetList<Table extends keyof DB, Row>(
  db: Database,
  list: SelectQueryBuilder<DB, Table, object>,
  select: (list: SelectQueryBuilder<DB, Table, object>) => SelectQueryBuilder<DB, Table, Row>,
): KeysetList<Row> {
  const rows = select(list).orderBy(ID, 'desc');
  const readBatch = (afterId: string | null, limit: number) =>
    (afterId === null ? rows : rows.where(ID, '<', afterId)).limit(limit).execute();
  const ids = list.select(ID.as('id')).orderBy(ID, 'desc');
  return { readBatch, readPage: (offset, limit) => readPage(db, ids, offset, (id) => readBatch(id, limit)) };
}

/** The rows after the one of the given id, oldest first; null: from the start. */
export function afterIdInOrder<Table extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, Table, Row>,
  afterId: string | null,
): SelectQueryBuilder<DB, Table, Row> {
  return (afterId === null ? rows : rows.where(ID, '>', afterId)).orderBy(ID);
}

/**
 * One page of a list, and the length of the whole. Rows are passed over in an index alone: the last page of a million
 * costs a walk over their ids, and reads no row but its own.
 * @param ids all of the list, newest first: `SELECT id … ORDER BY id DESC`. The order holds the planner to the index
 *   where it counts: it would rather read a table whole in which most rows are the list's.
 * @param readAfter reads the rows of one page after the given id, or from the start
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

/** The id the page comes after: null for the first page, undefined where the list is shorter. */
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
