import { type Expression, type RawBuilder, sql } from 'kysely';
import { firstIdAt, timeOf } from '../lib/ids.ts';
import type { Database, Db } from './database.ts';
import { executeWithoutTableScan } from './transaction.ts';

/**
 * List of a tenant that may be so long that its rows are not counted for each page. Its ids are UUIDv7. Each row has a status, a kind and a
 * credential. A row in a final status never changes. The retention may remove rows, beginning with the oldest.
 */
export interface TalliedList {
  name: 'orders' | 'deliveries';
  table: 'restaurant_order' | 'delivery';
  tenantId: number;
  /** Selects `id`, `status`, `kind` and `credential_id` of all rows of the tenant. */
  facts: RawBuilder<unknown>;
  /** Condition that selects the rows that are not in a final status. An index finds these rows, also for a range of ids. */
  isOpen: RawBuilder<boolean>;
  /**
   * Length of a period in milliseconds, for example of a day. The rows of one period form one part of the list. The counts of the rows of a
   * part can be stored as a tally.
   */
  partMs: number;
  /** Replaces `STORING`, which decides when a read stores tallies, and about how many rows these tallies count. Used by tests. */
  storing?: { slowMs: number; rows: number };
}

/**
 * Filter of a list. Tallies store the number of rows for each status, kind and credential, so they can count the rows that pass the filter.
 * A missing field lets all rows pass.
 */
export interface TallyFilter {
  /** Status of the rows, which must be a final status. A list of open rows is read without tallies. */
  status?: string | undefined;
  kind?: string | undefined;
  credentialId?: string | undefined;
  /** Smallest id that passes the filter. An id contains the time of its row, so `fromId` and `beforeId` select a period of time. */
  fromId?: string | undefined;
  /** Only smaller ids than `beforeId` pass the filter. */
  beforeId?: string | undefined;
}

/** Range of the ids of a list. `fromId` is in the range, `beforeId` is not. */
export interface IdRange {
  fromId: string;
  beforeId: string;
}

/** Returns a query for the ids of a list from `fromId` to the last id before `beforeId`. */
export type IdsIn = (fromId: RawBuilder<unknown>, beforeId: RawBuilder<unknown>) => Expression<unknown>;

/** Range of a list with the number of its rows that pass a filter. */
export interface Segment extends IdRange {
  count: number;
  /** True if `count` was computed with a stored tally. False if a query counted all rows of this segment. */
  isTallied: boolean;
}

/**
 * Waiting time in milliseconds before a tally is stored. It begins at the end of the period whose rows the tally counts, for example at the
 * end of a day. During this time, the list may still get rows of the period. A row is inserted some seconds after its id was made, and the
 * clocks of processes may differ.
 */
const SETTLED_MS = 3_600_000;
/**
 * Rules for when a read of a page stores tallies, which are counts of parts of the list:
 * - The read stores tallies if it took longer than `slowMs` milliseconds to count the rows of the list and to skip the rows before the
 *   page.
 * - All tallies that one read stores count about `rows` rows together.
 * - A list gets its first tallies only if it has more than `rows` rows.
 */
export const STORING = { slowMs: 10, rows: 20_000 };

/** Maximum number of tallies that are stored after one read. Each tally has the counts of one part of the list, for example of one day. */
const MAX_STORED_PARTS = 1_000;
/**
 * Maximum number of ranges without tallies that one read examines to find a range for new tallies. The read stores tallies for the first
 * suitable range. A range is not suitable if it is too new or too short, or if it has too few rows.
 */
const MAX_TRIED_GAPS = 3;

const FIRST_ID = firstIdAt(0);
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Divides a list into segments, in the order of the ids. Together the segments contain all ids. The count of a segment is the number of its
 * rows that pass the filter. There are two kinds of segments:
 * - A part with a correct tally. A part contains the rows of one period, for example of one day.
 * - A range of ids without such parts. A query counts its rows.
 *
 * A tally is no longer correct after a row of its part gets a final status, or after the retention removes rows of the part.
 * @param tx transaction in the mode `snapshot`, so that all counts are from the same moment
 * @param idsIn selects the ids of the list between two bounds
 */
export async function readSegments(tx: Db, list: TalliedList, filter: TallyFilter, idsIn: IdsIn): Promise<Segment[]> {
  const segments = withGaps(await readTallies(tx, list, filter));
  const gaps = segments.filter(({ isTallied }) => !isTallied);
  const counts = await countGaps(tx, gaps, idsIn);
  gaps.forEach((gap, index) => void (gap.count = counts[index] ?? 0));
  if (gaps.length < segments.length && filter.status === undefined) {
    const open = await countOpen(tx, list, filter, segments);
    segments.forEach((segment, index) => void (segment.count += segment.isTallied ? (open[index] ?? 0) : 0));
  }
  return segments;
}

/**
 * Reads the tallies, in the order of the ids. Leaves out each tally that is no longer correct, because a row has since got a final status
 * or was removed. The counts include only rows in a final status.
 */
async function readTallies(
  db: Db,
  { name, table, tenantId, isOpen }: TalliedList,
  filter: TallyFilter,
): Promise<Segment[]> {
  const { fromId = FIRST_ID, beforeId = LAST_ID } = filter;
  const { rows } = await sql<Segment>`
    SELECT t.from_id AS "fromId", t.before_id AS "beforeId", true AS "isTallied", (
      SELECT coalesce(sum(c.count), 0)::int4
      FROM unnest(t.statuses, t.kinds, t.credential_ids, t.counts) AS c (status, kind, credential_id, count)
      WHERE ${conditionsOf(filter)}
    ) AS count
    FROM list_tally AS t
    WHERE t.tenant_id = ${tenantId} AND t.list = ${sql.lit(name)}
      AND t.from_id >= ${fromId}::uuid AND t.from_id < ${beforeId}::uuid AND t.before_id <= ${beforeId}::uuid
      AND t.open_count = (
        SELECT count(*) FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND id >= t.from_id AND id < t.before_id AND ${isOpen}
      )
      AND (t.first_id IS NULL OR EXISTS (SELECT FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND id = t.first_id))
    ORDER BY t.from_id
  `.execute(db);
  return rows;
}

/** Counts the rows of the list in each of the ranges. */
async function countGaps(db: Db, gaps: IdRange[], idsIn: IdsIn): Promise<number[]> {
  const { rows } = await sql<{ count: number }>`
    SELECT counted.count
    FROM unnest(${gaps.map(({ fromId }) => fromId)}::uuid[], ${gaps.map(({ beforeId }) => beforeId)}::uuid[])
      WITH ORDINALITY AS gap (from_id, before_id, number)
    CROSS JOIN LATERAL (
      SELECT count(*)::int4 AS count FROM ${idsIn(sql`gap.from_id`, sql`gap.before_id`)} AS "list"
    ) AS counted
    ORDER BY gap.number
  `.execute(db);
  return rows.map(({ count }) => count);
}

/**
 * Returns one count for each segment. Counts the rows of the segment that pass the filter and are open, which means not in a final status.
 */
async function countOpen(db: Db, list: TalliedList, filter: TallyFilter, segments: Segment[]): Promise<number[]> {
  const { rows } = await sql<{ number: number; count: number }>`
    SELECT width_bucket(id, ${segments.map(({ fromId }) => fromId)}::uuid[]) AS number, count(*)::int4 AS count
    FROM (${list.facts} AND ${list.isOpen}) AS fact
    WHERE ${conditionsOf(filter)}
    GROUP BY 1
  `.execute(db);
  const counts = new Map(rows.map(({ number, count }) => [number, count]));
  return segments.map((_, index) => counts.get(index + 1) ?? 0);
}

function conditionsOf({ status, kind, credentialId }: TallyFilter): RawBuilder<boolean> {
  const conditions = [
    sql`true`,
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(credentialId === undefined ? [] : [sql`credential_id = ${credentialId}::uuid`]),
  ];
  return sql<boolean>`${sql.join(conditions, sql` AND `)}`;
}

function withGaps(tallies: Segment[]): Segment[] {
  const segments: Segment[] = [];
  let nextId = FIRST_ID;
  for (const tally of [...tallies, { fromId: LAST_ID, beforeId: LAST_ID, count: 0, isTallied: true }]) {
    if (tally.fromId > nextId) {
      segments.push({ fromId: nextId, beforeId: tally.fromId, count: 0, isTallied: false });
    }
    segments.push(tally);
    nextId = tally.beforeId;
  }
  return segments.slice(0, -1);
}

/**
 * Stores tallies for some parts of a list that have no tally. A part has the rows of one period, for example of one day.
 * - All parts of one call are in one range of ids without tallies. If possible, this is the range with the newest rows.
 * - The call begins with the newest part of the range. It adds older parts until the parts together have more than about 20,000 rows.
 * - A list gets its first tallies only if it has more than about 20,000 rows.
 */
export async function storeTallies(
  db: Database,
  list: TalliedList,
  filter: TallyFilter,
  segments: Segment[],
): Promise<void> {
  const { fromId = FIRST_ID, beforeId = LAST_ID } = filter;
  const isLong = segments.some(({ isTallied }) => isTallied);
  const gaps = segments
    .filter((segment) => !segment.isTallied && segment.beforeId > fromId && segment.fromId < beforeId)
    .map((gap) => ({
      fromId: gap.fromId > fromId ? gap.fromId : fromId,
      beforeId: gap.beforeId < beforeId ? gap.beforeId : beforeId,
    }));
  for (const gap of gaps.toReversed().slice(0, MAX_TRIED_GAPS)) {
    const bounds = await boundsOf(db, list, gap, isLong);
    if (bounds.length > 1) {
      await storeParts(db, list, bounds);
      return;
    }
  }
}

/** @param bounds ids in ascending order. A part begins at each of them except the last, and ends before the next id. */
async function storeParts(db: Database, list: TalliedList, bounds: string[]): Promise<void> {
  const { name, table, tenantId, facts, isOpen } = list;
  await db.transaction().execute(async (tx) => {
    // The commit waits neither for the disk nor for standbys, so the read is faster. If a crash loses a tally, a later read stores the
    // tally again.
    await sql`SET LOCAL synchronous_commit = off`.execute(tx);
    const insert = sql`
      INSERT INTO list_tally (tenant_id, list, from_id, before_id, first_id, open_count, statuses, kinds, credential_ids, counts)
      SELECT ${tenantId}, ${sql.lit(name)}, part.from_id, part.before_id, counted.first_id::uuid, coalesce(counted.open_count, 0),
        coalesce(counted.statuses, '{}'), coalesce(counted.kinds, '{}'), coalesce(counted.credential_ids, '{}'), coalesce(counted.counts, '{}')
      FROM unnest(${bounds.slice(0, -1)}::uuid[], ${bounds.slice(1)}::uuid[]) WITH ORDINALITY AS part (from_id, before_id, number)
      LEFT JOIN (
        SELECT number, min(first_id) FILTER (WHERE NOT is_open) AS first_id, sum(count) FILTER (WHERE is_open) AS open_count,
          array_agg(status) FILTER (WHERE NOT is_open) AS statuses, array_agg(kind) FILTER (WHERE NOT is_open) AS kinds,
          array_agg(credential_id) FILTER (WHERE NOT is_open) AS credential_ids, array_agg(count) FILTER (WHERE NOT is_open) AS counts
        FROM (
          SELECT width_bucket(id, ${bounds}::uuid[]) AS number, status, kind, credential_id, ${isOpen} AS is_open,
            count(*)::int4 AS count, min(id::text COLLATE "C") AS first_id
          FROM (${facts} AND id >= ${bounds[0]}::uuid AND id < ${bounds.at(-1)}::uuid) AS fact
          GROUP BY 1, 2, 3, 4, 5
        ) AS grouped GROUP BY number
      ) AS counted ON counted.number = part.number
      ON CONFLICT (tenant_id, list, from_id) DO UPDATE SET before_id = excluded.before_id, first_id = excluded.first_id,
        open_count = excluded.open_count, statuses = excluded.statuses, kinds = excluded.kinds,
        credential_ids = excluded.credential_ids, counts = excluded.counts`;
    await executeWithoutTableScan(tx, insert);
    // Deletes each tally whose period, for example a day, ended before the oldest row. The retention has removed all rows of that period.
    await sql`
      DELETE FROM list_tally WHERE tenant_id = ${tenantId} AND list = ${sql.lit(name)} AND before_id <= (
        SELECT id FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} ORDER BY id LIMIT 1
      )
    `.execute(tx);
  });
}

/**
 * Returns the bounds of the parts for which a read stores tallies, as ids in ascending order. A part begins at each id except the last, and
 * ends before the next id. Returns an empty array if the read stores no tallies for this range.
 * @param isLong true if the list already has tallies. Then the range also gets tallies if it has few rows, so that later reads need not
 * count these rows again. If false, the range gets tallies only if it has more than `STORING.rows` rows.
 */
async function boundsOf(db: Database, list: TalliedList, range: IdRange, isLong: boolean): Promise<string[]> {
  const { partMs, storing: { rows: storedRows } = STORING } = list;
  const rangeStartMs = Math.ceil(timeOf(range.fromId).getTime() / partMs) * partMs;
  const settledMs = Math.min(timeOf(range.beforeId).getTime(), Date.now() - SETTLED_MS);
  const endMs = Math.floor(settledMs / partMs) * partMs;
  if (endMs <= rangeStartMs) {
    return [];
  }
  const settled = { fromId: range.fromId, beforeId: firstIdAt(endMs) };
  const firstId = (await findId(db, list, settled, storedRows)) ?? (isLong ? await oldestId(db, list, settled) : null);
  if (firstId === null) {
    return [];
  }
  const partStartMs = Math.floor(timeOf(firstId).getTime() / partMs) * partMs;
  const startMs = Math.max(rangeStartMs, Math.min(partStartMs, endMs - partMs), endMs - MAX_STORED_PARTS * partMs);
  const count = (endMs - startMs) / partMs;
  return Array.from({ length: count + 1 }, (_, index) => firstIdAt(startMs + index * partMs));
}

/** Returns the id of the row that has `newerRows` newer rows in the range. Returns null if the range has no such row. */
async function findId(db: Database, { table, tenantId }: TalliedList, range: IdRange, newerRows: number) {
  const ids = sql`
    SELECT id FROM ${sql.table(table)}
    WHERE tenant_id = ${tenantId} AND id >= ${range.fromId}::uuid AND id < ${range.beforeId}::uuid ORDER BY id DESC`;
  const { rows } = await executeWithoutTableScan(
    db,
    sql<{ id: string }>`SELECT id FROM (${ids}) AS "list" OFFSET ${newerRows} LIMIT 1`,
  );
  return rows[0]?.id ?? null;
}

async function oldestId(db: Database, { table, tenantId }: TalliedList, range: IdRange) {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM ${sql.table(table)}
    WHERE tenant_id = ${tenantId} AND id >= ${range.fromId}::uuid AND id < ${range.beforeId}::uuid
    ORDER BY id LIMIT 1
  `.execute(db);
  return rows[0]?.id ?? null;
}
