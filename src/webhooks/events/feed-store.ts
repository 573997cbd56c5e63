import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { EventWithDelivery } from './attempts.ts';

export interface Feed {
  tenantId: number;
  credentialId: string;
}

export interface FeedRow extends EventWithDelivery {
  feed_position: number;
}

function eventsOf(db: Db, { tenantId, credentialId }: Feed) {
  return db.selectFrom('event').where('tenant_id', '=', tenantId).where('credential_id', '=', credentialId);
}

/** PostgreSQL uses the index `event_in_feed` only if the statement sorts by `feed_position`, which is null here, and then by id. */
function unnumberedEvents(db: Db, feed: Feed) {
  return eventsOf(db, feed).select('id').where('feed_position', 'is', null).orderBy('feed_position');
}

export interface FeedEnd {
  era: number;
  /** Highest committed position of an event. 0: no event has a position. */
  lastPosition: number;
  isBehind: boolean;
}

/**
 * Reads the end of a feed. One statement reads all fields, so that `lastPosition` and `isBehind` agree even if another call gives positions
 * to events at the same time.
 */
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

/** Raises the feed era. Returns the new era, which is greater than the previous era and at least `atLeast`. */
export async function raiseEra(db: Database, atLeast: number): Promise<number> {
  const { era } = await db
    .updateTable('feed_era')
    .set({ era: sql<number>`greatest(era + 1, ${atLeast}::bigint)` })
    .returning('era')
    .executeTakeFirstOrThrow();
  return era;
}

export async function readNumbered(db: Db, feed: Feed, after: number, limit: number): Promise<FeedRow[]> {
  return await eventsOf(db, feed)
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('delivery')
          .select(['status', 'attempts', 'attempt_count', 'claimed_at'])
          .where('delivery.tenant_id', '=', feed.tenantId)
          .whereRef('delivery.id', '=', 'event.id')
          .limit(1)
          .as('delivery'),
      (join) => join.onTrue(),
    )
    .select(['feed_position', 'body', 'status', 'attempts', 'attempt_count', 'claimed_at'])
    .where('feed_position', '>', after)
    .orderBy('feed_position')
    .limit(limit)
    .$narrowType<{ feed_position: number }>()
    .execute();
}

/**
 * Locks the feed until the transaction ends, so that only one transaction at a time gives positions to events of the feed.
 * @returns the last position that an event of the feed has; 0 if no event has a position
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
