import type { Database } from '#platform/db/database.ts';
import { notFound } from '#platform/errors.ts';
import { readIds } from '#platform/http/search-query.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { answerFeed, deliveryOfEvent } from './feed.ts';
import { hasPartner, type ListedEvent, readNewest } from './list-store.ts';
import type { FeedPage, FeedQuery } from './schema.ts';
import type { StaffEvent, StaffEventPage, StaffEventQuery } from './staff-schema.ts';

const DEFAULT_LIMIT = 50;

/**
 * Returns the newest events of the tenant, as one list for all its partners. The list has only events that pass the filter of the query.
 * @throws ApiError 400 `invalid_request` if `ids` is not a list of ids
 */
export async function listEvents(db: Database, tenantId: number, query: StaffEventQuery): Promise<StaffEventPage> {
  const { before: beforeId, limit = DEFAULT_LIMIT, credential_id: credentialId, type, ids } = query;
  const filter = { tenantId, beforeId, credentialId, type, ids: ids === undefined ? undefined : readIds(ids) };
  // The query reads one event more than the page, to see if the list has a next page.
  const found = await readNewest(db, filter, limit + 1);
  const results = found.slice(0, limit).map(eventShape);
  return { results, next: found.length > limit ? (results.at(-1)?.event_id ?? null) : null };
}

function eventShape({ id, body, credential_id, delivery }: ListedEvent): StaffEvent {
  const { event, occurred_at, data } = JSON.parse(body) as Pick<StaffEvent, 'event' | 'occurred_at' | 'data'>;
  return { event_id: id, event, occurred_at, data, credential_id, delivery: deliveryOfEvent(delivery) };
}

/**
 * Returns the feed of a partner as the partner would read it. Like a call of the partner, the function gives a position in the feed to
 * events that have no position.
 * @throws ApiError 404 if the tenant has no third-party credential with this id
 * @throws ApiError 400 `invalid_request` in the same cases as `answerFeed`
 */
export async function feedOfPartner(
  db: Database,
  tenantId: number,
  credentialId: string,
  query: FeedQuery,
): Promise<FeedPage> {
  if (!isUuid(credentialId) || !(await hasPartner(db, tenantId, credentialId))) {
    throw notFound('credential');
  }
  return await answerFeed(db, { tenantId, credentialId }, query);
}
