import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import * as store from './feed-store.ts';
import type { DeliveryStatus, FeedEntry, FeedPage } from './schema.ts';
import { attemptsShape } from './webhooks.ts';

/** Events of one transaction, where many were never read. */
const NUMBERED_AT_ONCE = 1_000;

/**
 * The credential's own events after a cursor, oldest first, with their delivery. Every event that was committed before
 * the call is in it or after it: one that was committed late comes after those that were read before (see "The event
 * feed" in docs/decisions). Where there is nothing new it writes nothing.
 * @param after the `next` of the answer before; empty: from the start
 */
export async function readFeed(db: Database, feed: store.Feed, after: string, limit: number): Promise<FeedPage> {
  const rows = await readRows(db, feed, Number(after), limit);
  const results = rows.map(entryShape);
  return { results, next: results.at(-1)?.cursor ?? after };
}

async function readRows(db: Database, feed: store.Feed, after: number, limit: number): Promise<store.FeedRow[]> {
  // In this order: what another reader numbers between the two look-ups is in the second one's answer.
  const isBehind = await store.hasUnnumbered(db, feed);
  const page = await store.readNumbered(db, feed, after, limit);
  if (page.length === limit || !isBehind) {
    return page;
  }
  return await inTransaction(db, async (tx) => {
    await numberOldest(tx, feed, limit - page.length, null);
    return await store.readNumbered(tx, feed, after, limit);
  });
}

/**
 * The cursor after which only what happens from now on comes: every event that was committed before the call is numbered,
 * and lies before it. Where all of them have been read, that is two look-ups.
 */
export async function endOfFeed(db: Database, feed: store.Feed): Promise<string> {
  let isBehind = await store.hasUnnumbered(db, feed);
  let passed: string | null = null;
  while (isBehind) {
    const ids: string[] = await inTransaction(db, (tx) => numberOldest(tx, feed, NUMBERED_AT_ONCE, passed));
    // A batch that is not full has met the last of them.
    isBehind = ids.length === NUMBERED_AT_ONCE;
    passed = ids.at(-1) ?? null;
  }
  return String(await store.readLastPosition(db, feed));
}

/**
 * Numbers the oldest events without a position on from the last one.
 * @param afterId those up to here were numbered just now: their dead entries in the index need not be passed again
 * @returns their ids, at most as many as the limit
 */
async function numberOldest(tx: Tx, feed: store.Feed, limit: number, afterId: string | null): Promise<string[]> {
  const lastPosition = await store.lockFeed(tx, feed);
  const ids = await store.lockUnnumbered(tx, feed, limit, afterId);
  if (ids.length > 0) {
    await store.numberEvents(tx, feed, ids, lastPosition);
  }
  return ids;
}

/** What `JSON.stringify` wrote comes out of it again as it was, so the entry holds the signed body's bytes. */
function entryShape(row: store.FeedRow): FeedEntry {
  const status = row.delivery_status as DeliveryStatus | null;
  return {
    cursor: String(row.feed_position),
    ...(JSON.parse(row.body) as Pick<FeedEntry, 'event' | 'event_id' | 'occurred_at' | 'data'>),
    delivery: status === null ? null : { status, attempts: attemptsShape(row.attempts) },
  };
}
