/** Reads events: the feed of a credential, and the list of all partners' events for staff. */
import { readCredentialRow } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { type ApiError, invalidField, notFound } from '#platform/errors.ts';
import { readPart } from '#platform/http/keyset-page.ts';
import { readIds } from '#platform/http/search-query.ts';
import type { Attempt, DeliveryStatus, FeedEntry, FeedPage, FeedQuery, StaffEvent, StaffEventQuery } from './schema.ts';
import * as store from './store.ts';

const DEFAULT_LIMIT = 50;
const NUMBERED_AT_ONCE = 1_000;

/**
 * Returns the credential's events after a cursor, oldest first, with their deliveries. An event that is committed late gets a position after
 * those that were already read, so a reader misses none (docs/decisions/0013-event-feed.md).
 * @throws ApiError 400 `invalid_request` if `after` is not a cursor, is older than the last restore from a backup, or is beyond the end of
 * the feed
 */
export async function readFeed(db: Database, feed: store.Feed, query: FeedQuery): Promise<FeedPage> {
  const { after = '', limit = DEFAULT_LIMIT } = query;
  if (after === 'latest') {
    return { results: [], next: await endOfFeed(db, feed) };
  }
  const end = await store.readEnd(db, feed);
  const position = positionOf(after, end);
  let rows = await store.readNumbered(db, feed, position, limit);
  if (rows.length < limit && end.isBehind) {
    const missing = limit - rows.length;
    rows = await inTransaction(db, async (tx) => {
      await store.numberOldest(tx, feed, missing);
      return await store.readNumbered(tx, feed, position, limit); // It may have events that another reader has numbered meanwhile.
    });
  }
  const results = rows.map((row) => ({ cursor: cursorText(end.era, row.feed_position), ...eventShape(row) }));
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
      ids = await inTransaction(db, (tx) => store.numberOldest(tx, feed, NUMBERED_AT_ONCE, lastId));
    } while (ids.length === NUMBERED_AT_ONCE);
    end = await store.readEnd(db, feed);
  }
  return cursorText(end.era, end.lastPosition);
}

/** Cursor: `<position>` of the last event that the client has read, or after a restore `<era>-<position>`. Empty or 0: the start. */
const CURSOR = /^(?:(?:(?<era>[0-9]{1,15})-)?(?<position>[0-9]{1,15}))?$/;

function cursorText(era: number, position: number): string {
  return era === 0 ? String(position) : `${era}-${position}`;
}

/**
 * Begins a new feed era, from which on every process refuses the cursors of earlier eras. Call it at the end of a restore from a backup.
 * @returns the new era, which is at least the Unix time in seconds, so two restores of the same backup get different eras
 */
export async function raiseFeedEra(db: Database, now = new Date()): Promise<number> {
  return await withRetries(() => store.raiseEra(db, Math.floor(now.getTime() / 1_000)));
}

/**
 * Returns the feed of a partner as the partner would read it, also with the same effect on positions.
 * @throws ApiError 404 if the tenant has no third-party credential with this id, or 400 as `readFeed`
 */
export async function feedOfPartner(db: Database, tenantId: number, credentialId: string, query: FeedQuery) {
  const { audience } = await readCredentialRow(db, tenantId, credentialId);
  if (audience !== 'third_party') {
    throw notFound('credential');
  }
  return await readFeed(db, { tenantId, credentialId }, query);
}

/** @throws ApiError 400 `invalid_request` if `ids` is not a list of ids, or `after` not a cursor of this list */
export async function listEvents(db: Database, tenantId: number, query: StaffEventQuery) {
  const filter = { ...query, ids: query.ids === undefined ? undefined : readIds(query.ids) };
  return await readPart(db, store.listEvents(tenantId, filter), query);
}

export function staffEventShape(row: store.ListedEvent): StaffEvent {
  const { event, event_id, occurred_at, data, delivery } = eventShape(row);
  return { event_id, event, occurred_at, data, credential_id: row.credential_id, delivery };
}

/** `JSON.stringify` wrote the stored body, so the fields have the same bytes as in the signed body of a webhook. */
function eventShape(row: store.EventRow) {
  return {
    ...(JSON.parse(row.body) as Pick<FeedEntry, 'event' | 'event_id' | 'occurred_at' | 'data'>),
    delivery: row.status === null ? null : { status: row.status as DeliveryStatus, attempts: attemptsShape(row) },
  };
}

/**
 * Returns stored attempts as the API returns them, with the fields in the order of the contract and times in milliseconds. An attempt without
 * a recorded outcome gets the error `no_outcome`: it is under way, or its process died.
 */
export function attemptsShape({ attempts, attempt_count, claimed_at }: store.StoredAttempts): Attempt[] {
  const shown = (attempts as Attempt[]).map(({ at, http_status, duration_ms, error }) => ({
    at: new Date(at).toISOString(),
    http_status,
    duration_ms,
    error,
  }));
  if (attempt_count > shown.length && claimed_at !== null) {
    shown.push({ at: claimed_at.toISOString(), http_status: null, duration_ms: null, error: 'no_outcome' });
  }
  return shown;
}
