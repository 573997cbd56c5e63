import type { Database } from '#platform/db/database.ts';
import { notFound } from '#platform/errors.ts';
import { type ListPart, readPart } from '#platform/http/keyset-page.ts';
import { readIds } from '#platform/http/search-query.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { answerFeed, deliveryOfEvent } from './feed.ts';
import * as store from './list-store.ts';
import type { FeedPage, FeedQuery } from './schema.ts';
import type { StaffEvent, StaffEventQuery } from './staff-schema.ts';

/**
 * Reads the part of the list of the tenant's events that the query asks for.
 * @throws ApiError 400 `invalid_request` if `ids` is not a list of ids, or `after` not a cursor of this list
 */
export async function listEvents(
  db: Database,
  tenantId: number,
  query: StaffEventQuery,
): Promise<ListPart<store.ListedEvent>> {
  const { credential_id: credentialId, type, ids } = query;
  const filter = { credentialId, type, ids: ids === undefined ? undefined : readIds(ids) };
  return await readPart(db, store.listEvents(tenantId, filter), query);
}

export function eventShape(row: store.ListedEvent): StaffEvent {
  const { id, body, credential_id, status, attempts, attempt_count, claimed_at } = row;
  const { event, occurred_at, data } = JSON.parse(body) as Pick<StaffEvent, 'event' | 'occurred_at' | 'data'>;
  const delivery = status === null ? null : { status, attempts, attempt_count: attempt_count ?? 0, claimed_at };
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
  if (!isUuid(credentialId) || !(await store.hasPartner(db, tenantId, credentialId))) {
    throw notFound('credential');
  }
  return await answerFeed(db, { tenantId, credentialId }, query);
}
