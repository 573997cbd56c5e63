import { sql } from 'kysely';
import type { Database, Db } from './database.ts';
import { isUnavailable } from './failures.ts';
import {
  type IdRange,
  type IdsIn,
  readSegments,
  type Segment,
  storeTallies,
  STORING,
  type TalliedList,
  type TallyFilter,
} from './list-tallies.ts';
import { runTransaction } from './transaction.ts';

/**
 * List whose rows are counted with the help of tallies, and the filter that selects the rows to count. A tally is a stored row count of one
 * part of the list.
 */
export interface Tallied {
  list: TalliedList;
  filter: TallyFilter;
}

/**
 * Reads one page of a list, and the number of rows of the whole list. The list is divided into segments. A segment is a range of ids for
 * which the number of rows is known. From these numbers, the function computes the segment in which the page starts. So the database must
 * skip rows one by one only in this segment, and not in the segments before it.
 */
export async function readTalliedPage<Row>(
  db: Database,
  { list, filter, isNewestFirst }: Tallied & { isNewestFirst: boolean },
  ids: { between: IdsIn; inOrder: IdsIn },
  [offset, limit]: [offset: number, limit: number],
  readBatch: (afterId: string | null, limit: number, range: IdRange) => Promise<Row[]>,
): Promise<{ count: number; results: Row[] }> {
  const startMs = performance.now();
  const page = await runTransaction(
    db,
    async (tx) => {
      const segments = await readSegments(tx, list, filter, ids.between);
      const inOrder = isNewestFirst ? segments.toReversed() : segments;
      const found = offset === 0 ? undefined : findRow(inOrder, offset - 1);
      const before = found && (await idAt(tx, ids.inOrder, found));
      return { segments, inOrder, before: offset === 0 ? null : before };
    },
    'snapshot',
  );
  const tookMs = performance.now() - startMs;
  const { segments, inOrder, before } = page;
  const count = segments.reduce((sum, segment) => sum + segment.count, 0);
  const first = findRow(inOrder, offset)?.segment;
  const last = findRow(inOrder, Math.min(offset + limit, count) - 1)?.segment;
  const results =
    before === undefined || first === undefined || last === undefined
      ? []
      : await readBatch(before, limit, {
          fromId: isNewestFirst ? last.fromId : first.fromId,
          beforeId: isNewestFirst ? first.beforeId : last.beforeId,
        });
  if (tookMs > (list.storing ?? STORING).slowMs) {
    await storeTallies(db, list, filter, segments).catch((error: unknown) => {
      // The database may be unable to store the tallies, for example because it is read-only. This page is correct also without them. But
      // the next pages stay slow, because each of them must count the rows again.
      if (!isUnavailable(error)) {
        throw error;
      }
    });
  }
  return { count, results };
}

interface FoundRow {
  segment: Segment;
  /** Number of rows of the segment that come before this row. */
  index: number;
}

async function idAt(tx: Db, inOrder: IdsIn, { segment, index }: FoundRow): Promise<string | undefined> {
  const ids = inOrder(sql`${segment.fromId}::uuid`, sql`${segment.beforeId}::uuid`);
  const { rows } = await sql<{ id: string }>`SELECT id FROM ${ids} AS "list" OFFSET ${index} LIMIT 1`.execute(tx);
  return rows[0]?.id;
}

/**
 * Finds the row with the position `index` in the whole list. The first row has position 0. Returns undefined if the list has no such row.
 */
function findRow(segments: Segment[], index: number): FoundRow | undefined {
  let first = 0;
  for (const segment of segments) {
    if (index < first + segment.count) {
      return { segment, index: index - first };
    }
    first += segment.count;
  }
  return undefined;
}
