import type { Database, Tx } from '#platform/db/database.ts';
import { retrying } from '#platform/db/failures.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { type ApiError, invalidField } from '#platform/errors.ts';
import { attemptsShape } from './attempts.ts';
import { cursorText, parseCursor } from './feed-cursor.ts';
import * as store from './feed-store.ts';
import type { DeliveryStatus, FeedEntry, FeedPage } from './schema.ts';

/** Events of one transaction, where many were never read. */
const NUMBERED_AT_ONCE = 1_000;

/**
 * The credential's own events after a cursor, oldest first, with their delivery. Every event that was committed before
 * the call is in it or after it: one that was committed late comes after those that were read before (see "The event
 * feed" in docs/decisions). Where there is nothing new it writes nothing.
 * @param after the `next` of the answer before; empty: from the start
 * @throws ApiError invalid_request where the feed as it is now never gave this cursor: the database went back in time
 */
export async function readFeed(db: Database, feed: store.Feed, after: string, limit: number): Promise<FeedPage> {
  const end = await store.readEnd(db, feed);
  const position = positionOf(after, end);
  const rows = await readRows(db, feed, end, position, limit);
  const results = rows.map((row) => entryShape(row, end.era));
  return { results, next: results.at(-1)?.cursor ?? after };
}

/** @throws ApiError where a client that went on from here could pass over events in silence */
function positionOf(after: string, end: store.FeedEnd): number {
  const cursor = parseCursor(after);
  if (cursor === null) {
    throw invalidField(
      'after',
      'is no cursor: send the `next` of an answer as it is, `latest`, or nothing for the start',
    );
  }
  const { era, position } = cursor;
  if (position === 0) {
    return 0; // Whatever the era: nothing is passed over from the start.
  }
  if (era !== end.era) {
    throw refusedCursor('was given before the data of the service was restored from a backup');
  }
  if (position > end.lastPosition) {
    throw refusedCursor('lies beyond the end of the feed');
  }
  return position;
}

function refusedCursor(what: string): ApiError {
  return invalidField(
    'after',
    `this cursor ${what}. Leave after out to begin again from the oldest event, and skip each event_id that you have handled. ` +
      'Events may be missing: read the orders and reservations that you wait for.',
  );
}

/** @param end how far the feed went before: what another reader numbers from then on is in this look-up, or left to the numbering */
async function readRows(
  db: Database,
  feed: store.Feed,
  { isBehind }: store.FeedEnd,
  after: number,
  limit: number,
): Promise<store.FeedRow[]> {
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
 * and lies before it. Where all of them have been read, that is one statement.
 */
export async function endOfFeed(db: Database, feed: store.Feed): Promise<string> {
  let end = await store.readEnd(db, feed);
  if (end.isBehind) {
    await numberAll(db, feed);
    end = await store.readEnd(db, feed);
  }
  return cursorText({ era: end.era, position: end.lastPosition });
}

async function numberAll(db: Database, feed: store.Feed): Promise<void> {
  let ids: string[] = [];
  do {
    const passed = ids.at(-1) ?? null;
    ids = await inTransaction(db, (tx) => numberOldest(tx, feed, NUMBERED_AT_ONCE, passed));
  } while (ids.length === NUMBERED_AT_ONCE); // A batch that is not full has met the last of them.
}

/**
 * Begins a new era of all feeds: every cursor that was given before is refused from the next call on, on every node. For a restore,
 * once its data is there. The era is the time in seconds, so that two restores of one backup do not have the same.
 * @returns the new era
 */
export async function raiseFeedEra(db: Database, now = new Date()): Promise<number> {
  return await retrying(() => store.raiseEra(db, Math.floor(now.getTime() / 1_000)));
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
function entryShape(row: store.FeedRow, era: number): FeedEntry {
  const status = row.delivery_status as DeliveryStatus | null;
  return {
    cursor: cursorText({ era, position: row.feed_position }),
    ...(JSON.parse(row.body) as Pick<FeedEntry, 'event' | 'event_id' | 'occurred_at' | 'data'>),
    delivery: status === null ? null : { status, attempts: attemptsShape(row.attempts) },
  };
}
