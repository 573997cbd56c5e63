import type { AliasableExpression } from 'kysely';
import type { Database } from './database.ts';

/**
 * One page of a list, and the length of the whole. Rows are passed over in an index alone: the last page of a million
 * costs a walk over their ids, and reads no row but its own.
 * @param ids all of the list, newest first: `SELECT id … ORDER BY id DESC`. The order holds the planner to the index
 *   where it counts: it would rather read a table whole in which most rows are the list's.
 * @param readAfter reads the rows of one page after the given id, or from the start
 */
export async function readPage<Row>(
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
