import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { afterIdInOrder } from '#platform/db/keyset-list.ts';

/** Whose feed it is: every credential has one of its own. */
export interface Feed {
  tenantId: number;
  credentialId: string;
}

export interface FeedRow {
  feed_position: number;
  body: string;
  delivery_status: string | null;
  attempts: unknown;
}

function eventsOf(db: Db, { tenantId, credentialId }: Feed) {
  return db.selectFrom('event').where('tenant_id', '=', tenantId).where('credential_id', '=', credentialId);
}

/**
 * The events without a position, oldest first. The order names the position too, which is null in all of them: so the
 * index gives the order, which it would not for the id alone.
 */
function unnumberedEvents(db: Db, feed: Feed) {
  return eventsOf(db, feed).select('id').where('feed_position', 'is', null).orderBy('feed_position');
}

/** How far a feed goes. */
export interface FeedEnd {
  /** Raised by every restore of the database; 0: there was none. */
  era: number;
  /** The last position given; 0 where none was. Positions that are just being given are not in it. */
  lastPosition: number;
  /** Whether events are there that have no position yet. */
  isBehind: boolean;
}

/** In one statement, so that what is numbered meanwhile is in both `lastPosition` and `isBehind`, or in neither. */
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

/** @returns the new era, above the one before and not below the given number */
export async function raiseEra(db: Database, atLeast: number): Promise<number> {
  const { era } = await db
    .updateTable('feed_era')
    .set({ era: sql<number>`greatest(era + 1, ${atLeast}::bigint)` })
    .returning('era')
    .executeTakeFirstOrThrow();
  return era;
}

/** The events after a position, in the feed's order. */
export async function readNumbered(db: Db, feed: Feed, after: number, limit: number): Promise<FeedRow[]> {
  return await eventsOf(db, feed)
    .select(['feed_position', 'body', 'delivery_status', 'attempts'])
    .where('feed_position', '>', after)
    .orderBy('feed_position')
    .limit(limit)
    .$narrowType<{ feed_position: number }>()
    .execute();
}

/**
 * Locks the feed until the transaction ends: of two readers one numbers, then the other.
 * @returns the last position given
 */
export async function lockFeed(tx: Tx, { tenantId, credentialId }: Feed): Promise<number> {
  await tx
    .insertInto('event_feed')
    .values({ tenant_id: tenantId, credential_id: credentialId })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'credential_id']).doNothing())
    .execute();
  const feed = await tx
    .selectFrom('event_feed')
    .select('last_position')
    .where('tenant_id', '=', tenantId)
    .where('credential_id', '=', credentialId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return feed.last_position;
}

/** Locks the oldest events without a position, in the order of their ids. @returns the ids in that order */
export async function lockUnnumbered(tx: Tx, feed: Feed, limit: number, afterId: string | null): Promise<string[]> {
  const rows = await afterIdInOrder(unnumberedEvents(tx, feed), afterId).limit(limit).forNoKeyUpdate().execute();
  return rows.map((row) => row.id);
}

/** Gives the events, in the order given, the positions after the last one. */
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
