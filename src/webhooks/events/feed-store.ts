import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { StoredAttempts } from './attempts.ts';

/** Key of a feed. Each credential has its own feed. */
export interface Feed {
  tenantId: number;
  credentialId: string;
}

export interface FeedRow {
  feed_position: number;
  body: string;
  /** Delivery of the event. Null: no webhook URL was registered when the event was written. */
  delivery: ({ status: string } & StoredAttempts) | null;
}

function eventsOf(db: Db, { tenantId, credentialId }: Feed) {
  return db.selectFrom('event').where('tenant_id', '=', tenantId).where('credential_id', '=', credentialId);
}

/**
 * Selects the events of a feed that have no position yet. PostgreSQL can read these events in the order of the index `event_in_feed` only
 * if the statement sorts by `feed_position` and then by id. So this query sorts by `feed_position`, although it is null in all these
 * events. The callers add the id as the second sort column.
 */
function unnumberedEvents(db: Db, feed: Feed) {
  return eventsOf(db, feed).select('id').where('feed_position', 'is', null).orderBy('feed_position');
}

/** End of a feed as `readEnd` has read it: the feed era, the highest position, and a flag for events without a position. */
export interface FeedEnd {
  /** Feed era. Each restore from a backup begins an era with a greater number. 0: the database was never restored. */
  era: number;
  /** Highest committed position of an event. 0: no event has a position. */
  lastPosition: number;
  /** True if the feed has events without a position. */
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

/** Returns the events whose position is greater than `after`, in the order of their positions, with their deliveries. */
export async function readNumbered(db: Db, feed: Feed, after: number, limit: number): Promise<FeedRow[]> {
  const rows = await eventsOf(db, feed)
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('delivery')
          .select(['status', 'attempts', 'attempt_count', 'claimed_at'])
          // The subquery also has the tenant as a condition, because a cluster needs this condition to find the node of the tenant.
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
  return rows.map(({ feed_position, body, status, attempts, attempt_count, claimed_at }) => {
    const delivery = status === null ? null : { status, attempts, attempt_count: attempt_count ?? 0, claimed_at };
    return { feed_position, body, delivery };
  });
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

/**
 * Locks the oldest events that have no position and whose id is greater than `afterId` (null: any id). Returns their ids in ascending
 * order.
 */
export async function lockUnnumbered(tx: Tx, feed: Feed, limit: number, afterId: string | null): Promise<string[]> {
  const all = unnumberedEvents(tx, feed).orderBy('id');
  const rows = await (afterId === null ? all : all.where('id', '>', afterId)).limit(limit).forNoKeyUpdate().execute();
  return rows.map((row) => row.id);
}

/** Assigns the positions after `lastPosition` to the events, in the order of `ids`. */
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
