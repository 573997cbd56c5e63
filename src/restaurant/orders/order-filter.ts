import { invalidField } from '#platform/errors.ts';
import { firstIdAt, isUuid } from '#platform/lib/ids.ts';
import type { OrderFilter } from './list-store.ts';
import type { StaffOrderQuery } from './staff-schema.ts';

const MAX_IDS = 50;
/** Number of days that a search by name covers if the call gives no `created_from`. */
const NAME_DAYS = 31;
const DAY_MS = 86_400_000;

/**
 * Returns the filter that a query asks for.
 * @param nowMs milliseconds of Unix time, from which a search by name goes back
 * @throws ApiError 400 `invalid_request`
 */
export function filterOf(query: StaffOrderQuery, nowMs: number): OrderFilter {
  const { created_from, created_to, name, phone } = query;
  if (phone !== undefined && !/[0-9]/.test(phone)) {
    throw invalidField('phone', 'must have a digit');
  }
  const searchedFrom = name === undefined ? undefined : firstIdAt(nowMs - NAME_DAYS * DAY_MS);
  return {
    status: query.status,
    isOpen: query.open,
    ids: query.ids === undefined ? undefined : idsOf(query.ids),
    credentialId: query.credential_id,
    orderType: query.order_type,
    externalOrderId: query.external_order_id,
    phone,
    name,
    fromId: created_from === undefined ? searchedFrom : idAt(created_from),
    beforeId: created_to === undefined ? undefined : idAt(created_to),
  };
}

function idsOf(text: string): string[] {
  const ids = text.split(',', MAX_IDS + 1);
  if (ids.length > MAX_IDS || !ids.every(isUuid)) {
    throw invalidField('ids', `must be 1 to ${MAX_IDS} UUIDs with commas between them`);
  }
  return ids;
}

/**
 * Returns the smallest id that an order of this time or a later time can have. The time of an order is a whole millisecond, so a time between
 * two milliseconds counts as the later one.
 */
function idAt(time: string): string {
  const isBetween = /\.\d{3}0*[1-9]/.test(time);
  return firstIdAt(Math.max(0, Date.parse(time) + (isBetween ? 1 : 0)));
}
