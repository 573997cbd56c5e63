import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { EventWithDelivery } from './attempts.ts';
import { withDelivery } from './store.ts';

export interface Feed {
  tenantId: number;
  credentialId: string;
}

export interface FeedRow extends EventWithDelivery {
  feed_position: number;
}

/** PostgreSQL uses the index `event_in_feed` only if the statement sorts by `feed_position`, which is null here, and then by id. */
function unnumberedEvents(db: Db, { tenantId, credentialId }: Feed) {
  return db
    .selectFrom('event')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('credential_id', '=', credentialId)
    .where('feed_position', 'is', null)
    .orderBy('feed_position');
}

export interface FeedEnd {
  era: number;
  /** Highest committed position of an event. 0: no event has a position. */
  lastPosition: number;
  isBehind: boolean;
}

/** One statement reads all fields, so that they agree even if another call gives positions to events at the same time. */
export async function readEnd(db: Database, feed: Feed): Promise<FeedEnd> {
  const lastPosition = db
    .selectFrom('event_feed')
    .select('last_position')
    .where('tenant_id', '=', feed.tenantId)
    .where('credential_id', '=', feed.credentialId);
  const { era, last, unnumbered } = await db
    .selectFrom('feed_era')
    .select('era')
    .select(lastPosition.as('last'))
    .select(unnumberedEvents(db, feed).orderBy('id').limit(1).as('unnumbered'))
    .executeTakeFirstOrThrow();
  return { era, lastPosition: last ?? 0, isBehind: unnumbered !== null };
}

/** Returns the new era, which is greater than the previous era and at least `atLeast`. */
export async function raiseEra(db: Database, atLeast: number): Promise<number> {
  const { era } = await db
    .updateTable('feed_era')
    .set({ era: sql<number>`greatest(era + 1, ${atLeast}::bigint)` })
    .returning('era')
    .executeTakeFirstOrThrow();
  return era;
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

export async function lockUnnumbered(tx: Tx, feed: Feed, limit: number, afterId: string | null): Promise<string[]> {
  const all = unnumberedEvents(tx, feed).orderBy('id');
  const rows = await (afterId === null ? all : all.where('id', '>', afterId)).limit(limit).forNoKeyUpdate().execute();
  return rows.map((row) => row.id);
}

export async function numberEvents(tx: Tx, feed: Feed, ids: string[], lastPosition: number): Promise<void> {
  await tx
    .updateTable('event')
    .set({ feed_position: sql<number>`${lastPosition}::bigint + array_position(${ids}::uuid[], id)` })
    .where('tenant_id', '=', feed.tenantId)
    .where('id', 'in', ids)
    .execute();
  await tx
    .updateTable('event_feed')
    .set({ last_position: lastPosition + ids.length })
    .where('tenant_id', '=', feed.tenantId)
    .where('credential_id', '=', feed.credentialId)
    .execute();
}
