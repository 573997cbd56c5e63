import { readCredentialRow } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { notFound } from '#platform/errors.ts';
import { readPart } from '#platform/http/keyset-page.ts';
import { readIds } from '#platform/http/search-query.ts';
import { eventShape } from './attempts.ts';
import { readFeed } from './feed.ts';
import type { FeedQuery } from './schema.ts';
import type { StaffEvent, StaffEventQuery } from './staff-schema.ts';
import * as store from './store.ts';

/** @throws ApiError 400 `invalid_request` if `ids` is not a list of ids, or `after` not a cursor of this list */
export async function listEvents(db: Database, tenantId: number, query: StaffEventQuery) {
  const filter = { ...query, ids: query.ids === undefined ? undefined : readIds(query.ids) };
  return await readPart(db, store.listEvents(tenantId, filter), query);
}

export function staffEventShape(row: store.ListedEvent): StaffEvent {
  const { event, event_id, occurred_at, data, delivery } = eventShape(row);
  return { event_id, event, occurred_at, data, credential_id: row.credential_id, delivery };
}

/**
 * Returns the feed of a partner as the partner would read it, also with the same effect on positions.
 * @throws ApiError 404 if the tenant has no third-party credential with this id
 * @throws ApiError 400 `invalid_request` in the same cases as `readFeed`
 */
export async function feedOfPartner(db: Database, tenantId: number, credentialId: string, query: FeedQuery) {
  const { audience } = await readCredentialRow(db, tenantId, credentialId);
  if (audience !== 'third_party') {
    throw notFound('credential');
  }
  return await readFeed(db, { tenantId, credentialId }, query);
}
