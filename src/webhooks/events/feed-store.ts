import { type RawBuilder, sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { EventWithDelivery } from './attempts.ts';
import { withDelivery } from './store.ts';

export interface Feed {
  tenantId: number;
  credentialId: string;
}

export interface FeedRow extends EventWithDelivery {
  feed_position: number;
}

export interface FeedEnd {
  era: number;
  /** Highest committed position of an event. 0: no event has a position. */
  lastPosition: number;
  isBehind: boolean;
}

/** One statement reads all fields, so that they agree even if another call gives positions to events at the same time. */
export async function readEnd(db: Database, feed: Feed): Promise<FeedEnd> {
  const { rows } = await sql<FeedEnd>`
    SELECT era, (${oldestUnnumbered(feed)} LIMIT 1) IS NOT NULL AS "isBehind", coalesce((
      SELECT last_position FROM event_feed WHERE tenant_id = ${feed.tenantId} AND credential_id = ${feed.credentialId}
    ), 0) AS "lastPosition"
    FROM feed_era`.execute(db);
  return rows[0] as FeedEnd;
}

/** PostgreSQL uses the index `event_in_feed` only if the statement sorts by `feed_position`, which is null here, and then by id. */
function oldestUnnumbered({ tenantId, credentialId }: Feed, afterId = firstIdAt(0)): RawBuilder<{ id: string }> {
  return sql`
    SELECT id FROM event
    WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId} AND feed_position IS NULL AND id > ${afterId}
    ORDER BY feed_position, id`;
}

/** Returns the new era, which is greater than the previous era and at least `atLeast`. */
export async function raiseEra(db: Database, atLeast: number): Promise<number> {
  const { rows } = await sql<{ era: number }>`
    UPDATE feed_era SET era = greatest(era + 1, ${atLeast}::bigint) RETURNING era`.execute(db);
  return rows[0]?.era ?? 0;
}

export async function readNumbered(
  db: Db,
  { tenantId, credentialId }: Feed,
  after: number,
  limit: number,
): Promise<FeedRow[]> {
  const { rows } = await sql<FeedRow>`
    SELECT e.feed_position, e.body, d.* FROM event AS e ${withDelivery(tenantId)}
    WHERE e.tenant_id = ${tenantId} AND e.credential_id = ${credentialId} AND e.feed_position > ${after}
    ORDER BY e.feed_position LIMIT ${limit}`.execute(db);
  return rows;
}

/** Locks the feed, so that only one transaction at a time gives positions to its events. Returns the last position, or 0. */
export async function lockFeed(tx: Tx, { tenantId, credentialId }: Feed): Promise<number> {
  const { rows } = await sql<{ last_position: number }>`
    INSERT INTO event_feed AS feed (tenant_id, credential_id) VALUES (${tenantId}, ${credentialId})
    ON CONFLICT (tenant_id, credential_id) DO UPDATE SET last_position = feed.last_position RETURNING last_position`.execute(
    tx,
  );
  return rows[0]?.last_position ?? 0;
}

export async function lockUnnumbered(tx: Tx, feed: Feed, limit: number, afterId?: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    ${oldestUnnumbered(feed, afterId)} LIMIT ${limit} FOR NO KEY UPDATE`.execute(tx);
  return rows.map((row) => row.id);
}

export async function numberEvents(
  tx: Tx,
  { tenantId, credentialId }: Feed,
  ids: string[],
  lastPosition: number,
): Promise<void> {
  await sql`
    UPDATE event SET feed_position = ${lastPosition}::bigint + array_position(${ids}::uuid[], id)
    WHERE tenant_id = ${tenantId} AND id = ANY (${ids}::uuid[])`.execute(tx);
  await sql`
    UPDATE event_feed SET last_position = ${lastPosition + ids.length}
    WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId}`.execute(tx);
}
