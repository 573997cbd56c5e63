import { sql } from 'kysely';
import { beginsWith, given, type KeysetList, NEWEST_FIRST, type Search } from '#platform/db/keyset-list.ts';
import type { OrderStatus } from './order-status.ts';
import type { StaffOrderQuery } from './staff-schema.ts';

type Named = 'status' | 'open' | 'credential_id' | 'order_type' | 'external_order_id' | 'name';

export interface OrderFilter extends Pick<StaffOrderQuery, Named> {
  ids?: string[] | undefined;
  /** Digits of the telephone number. */
  digits?: string | undefined;
  /** Last five characters of the id. */
  idEnd?: string | undefined;
  /** Inclusive. An id contains the time of the order, so this is also the earliest time in the list. */
  fromId?: string | undefined;
  /** Exclusive. */
  beforeId?: string | undefined;
}

export interface ListedOrder {
  id: string;
  status: string;
  status_changed_at: Date;
}

export function listOfTenant(
  tenantId: number,
  filter: OrderFilter,
  order: 'newest' | 'oldest',
): KeysetList<ListedOrder> {
  const isOpen = filter.open === true || (filter.status !== undefined && !FINAL_STATUSES.includes(filter.status));
  return {
    ...NEWEST_FIRST,
    ...(order === 'oldest' && { direction: 'ASC' }),
    name: `orders:${order}`,
    from: sql`restaurant_order`,
    ofTenant: sql`tenant_id = ${tenantId}`,
    // The text of the statement contains the statuses `completed` and `cancelled`. If they were parameters, the planner could not use the
    // partial index of open orders.
    where: isOpen ? [sql`status NOT IN ('completed', 'cancelled')`] : [],
    fromId: filter.fromId,
    beforeId: filter.beforeId,
    indexed: isOpen ? [] : given(filter.credential_id, (value) => ({ column: 'credential_id', type: 'uuid', value })),
    searches: searchesOf(tenantId, filter, isOpen),
    filters: [
      ...given(filter.status, (status) => sql`status = ${status}`),
      ...given(filter.order_type, (type) => sql`order_type = ${type}`),
      ...given(filter.idEnd, (end) => sql`right(id::text, 5) = ${end}`),
    ],
    row: sql`SELECT id, status, status_changed_at FROM restaurant_order WHERE tenant_id = ${tenantId} AND id = page.id`,
  };
}

const FINAL_STATUSES: readonly OrderStatus[] = ['completed', 'cancelled'];

function searchesOf(tenantId: number, filter: OrderFilter, isOpen: boolean): Search[] {
  // In the unique key, the credential comes before the external id. So this search needs the ids of all credentials of the tenant.
  const credentials = sql`SELECT id FROM credential WHERE tenant_id = ${tenantId}`;
  const isOfAny = sql`credential_id = ANY (ARRAY(${credentials}))`;
  return [
    ...given(filter.ids, (ids) => sql`id = ANY (${ids}::uuid[])`),
    ...(isOpen ? given(filter.credential_id, (id) => sql`credential_id = ${id}::uuid`) : []),
    ...given(filter.external_order_id, (id) => sql`external_order_id = ${id} AND ${isOfAny}`),
    ...given(filter.digits, (digits) => sql`customer_digits = ${digits}`),
    ...given(filter.name, (name) => beginsWith(sql`customer_search_name`, name)),
  ].map((isMatch) => ({ isMatch }));
}
