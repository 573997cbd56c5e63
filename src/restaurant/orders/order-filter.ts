import { readBound, readIds, readPhone } from '#platform/http/search-query.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import type { OrderFilter } from './list-store.ts';
import type { StaffOrderQuery } from './staff-schema.ts';

const NAME_DAYS = 31;
const DAY_MS = 86_400_000;

/**
 * A search by name without `created_from` covers the last 31 days.
 * @throws ApiError 400 `invalid_request`
 */
export function filterOf(query: StaffOrderQuery, nowMs: number): OrderFilter {
  const { created_from, created_to, name } = query;
  const searchedFrom = name === undefined ? undefined : firstIdAt(nowMs - NAME_DAYS * DAY_MS);
  return {
    status: query.status,
    isOpen: query.open,
    ids: query.ids === undefined ? undefined : readIds(query.ids),
    credentialId: query.credential_id,
    orderType: query.order_type,
    externalOrderId: query.external_order_id,
    phone: query.phone === undefined ? undefined : readPhone(query.phone),
    name,
    fromId: created_from === undefined ? searchedFrom : firstIdAt(readBound(created_from)),
    beforeId: created_to === undefined ? undefined : firstIdAt(readBound(created_to)),
  };
}
