import type { Database, Tx } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { type ApiError, invalidField } from '#platform/errors.ts';
import { eventShape } from './attempts.ts';
import * as store from './feed-store.ts';
import { type FeedPage, type FeedQuery, LATEST } from './schema.ts';

const DEFAULT_LIMIT = 50;
const NUMBERED_AT_ONCE = 1_000;

/**
 * Returns the credential's events after a cursor, oldest first, with their deliveries. If an event is committed late, it gets a position
 * after the events that were already read. So a reader misses no event (docs/decisions/0013-event-feed.md). If there is no new event, the
 * function writes nothing to the database.
 * @throws ApiError 400 `invalid_request` if `after` is not a cursor, is older than the last restore from a backup, or is beyond the end of
 * the feed
 */
export async function readFeed(db: Database, feed: store.Feed, query: FeedQuery): Promise<FeedPage> {
  const { after = '', limit = DEFAULT_LIMIT } = query;
  if (after === LATEST) {
    return { results: [], next: await endOfFeed(db, feed) };
  }
  const end = await store.readEnd(db, feed);
  const position = positionOf(after, end);
  let rows = await store.readNumbered(db, feed, position, limit);
  if (rows.length < limit && end.isBehind) {
    const missing = limit - rows.length;
    rows = await inTransaction(db, async (tx) => {
      await numberOldest(tx, feed, missing);
      return await store.readNumbered(tx, feed, position, limit); // It may have events that another reader has numbered meanwhile.
    });
  }
  const results = rows.map((row) => {
    return { cursor: cursorText(end.era, row.feed_position), ...eventShape(row) };
  });
  return { results, next: results.at(-1)?.cursor ?? after };
}

/** Refuses a cursor of an earlier feed era or beyond the end of the feed, because a client that continued from it could miss events. */
function positionOf(after: string, end: store.FeedEnd): number {
  const cursor = CURSOR.exec(after);
  if (cursor === null) {
    throw invalidField(
      'after',
      'this is not a cursor. Send the `next` of a response unchanged, or `latest`, or leave `after` out to begin at the start.',
    );
  }
  const era = Number(cursor.groups?.['era'] ?? 0);
  const position = Number(cursor.groups?.['position'] ?? 0);
  if (position === 0) {
    return 0; // Position 0 is valid in every era, because a client that reads from the start misses no event.
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
    `this cursor ${what}. Leave out \`after\` to begin again from the oldest event, and skip each event_id that you have handled. ` +
      'Events may be missing, so also read the orders and reservations that you wait for.',
  );
}

/** Returns the cursor after all events that were committed before the call. Gives a position to every event that has none. */
async function endOfFeed(db: Database, feed: store.Feed): Promise<string> {
  let end = await store.readEnd(db, feed);
  if (end.isBehind) {
    let ids: string[] = [];
    do {
      const lastId = ids.at(-1);
      ids = await inTransaction(db, (tx) => numberOldest(tx, feed, NUMBERED_AT_ONCE, lastId));
    } while (ids.length === NUMBERED_AT_ONCE);
    end = await store.readEnd(db, feed);
  }
  return cursorText(end.era, end.lastPosition);
}

/**
 * Begins a new feed era, from which on every process refuses the cursors of earlier eras. Call it at the end of a restore from a backup.
 * @returns the new era, which is at least the Unix time in seconds, so two restores of the same backup get different eras
 */
export async function raiseFeedEra(db: Database, now = new Date()): Promise<number> {
  return await withRetries(() => store.raiseEra(db, Math.floor(now.getTime() / 1_000)));
}

/**
 * The search begins after `afterId`, the last event of the previous batch. Otherwise PostgreSQL would first read the dead index entries of all
 * events that already got a position.
 */
async function numberOldest(tx: Tx, feed: store.Feed, limit: number, afterId?: string): Promise<string[]> {
  const lastPosition = await store.lockFeed(tx, feed);
  const ids = await store.lockUnnumbered(tx, feed, limit, afterId);
  if (ids.length > 0) {
    await store.numberEvents(tx, feed, ids, lastPosition);
  }
  return ids;
}

/** Cursor: `<position>` of the last event that the client has read, or after a restore `<era>-<position>`. Empty or 0: the start. */
const CURSOR = /^(?:(?:(?<era>[0-9]{1,15})-)?(?<position>[0-9]{1,15}))?$/;

function cursorText(era: number, position: number): string {
  return era === 0 ? String(position) : `${era}-${position}`;
}
