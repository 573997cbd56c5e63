import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { type ListOrder, type KeysetList, keysetList, type PageForm } from '#platform/db/keyset-list.ts';
import type { TalliedList } from '#platform/db/list-tallies.ts';
import { digitsOf } from '#platform/lib/unicode.ts';
import { beginsWith } from '#platform/db/search-text.ts';
import type { DB } from '#platform/db/types.ts';
import type { OrderStatus, OrderType } from './order-status.ts';

/** Conditions of a list of orders. An order is listed if all conditions are true. A field that is missing or undefined is no condition. */
export interface OrderFilter {
  status?: OrderStatus | undefined;
  /** If it is true, the list has only orders that are neither completed nor cancelled. */
  isOpen?: true | undefined;
  ids?: string[] | undefined;
  credentialId?: string | undefined;
  orderType?: OrderType | undefined;
  externalOrderId?: string | undefined;
  /** Digits of the customer's telephone number, from 0 to 9. */
  phone?: string | undefined;
  /** Beginning of the customer's name. Case and accents are ignored. */
  name?: string | undefined;
  /** Lower bound of the ids in the list, inclusive. An id contains the time of the order, so this is also the earliest time in the list. */
  fromId?: string | undefined;
  /** Upper bound of the ids in the list, exclusive. So all orders in the list were placed before the time in this id. */
  beforeId?: string | undefined;
}

/** Order in a list of the tenant's orders, without its lines. */
export interface ListedOrder {
  id: string;
  status: string;
  status_changed_at: Date;
}

type Orders = SelectQueryBuilder<DB, 'restaurant_order', object>;

/** Returns the list of the tenant's orders that pass the filter. The rows have only the fields of `ListedOrder`. */
export function listOfTenant(
  db: Database,
  tenantId: number,
  filter: OrderFilter,
  order: ListOrder,
): KeysetList<ListedOrder> {
  const all: Orders = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  const list = conditionsOf(tenantId, filter).reduce((orders, condition) => orders.where(condition), all);
  const select = (orders: typeof list) => orders.select(['id', 'status', 'status_changed_at']);
  return keysetList(db, list, select, order, pagesOf(tenantId, filter, list));
}

const FINAL_STATUSES: readonly OrderStatus[] = ['completed', 'cancelled'];
const IS_OPEN = sql<boolean>`status NOT IN ('completed', 'cancelled')`;
const DAY_MS = 86_400_000;

function pagesOf(tenantId: number, filter: OrderFilter, rows: Orders): PageForm<'restaurant_order'> {
  const { status, credentialId, orderType, fromId, beforeId, isOpen, ...marks } = filter;
  if (Object.values(marks).some((mark) => mark !== undefined)) {
    return { form: 'few', rows };
  }
  if (isOpen || (status !== undefined && !FINAL_STATUSES.includes(status))) {
    return { form: 'in order' };
  }
  const list: TalliedList = {
    name: 'orders',
    table: 'restaurant_order',
    tenantId,
    facts: sql`SELECT id, status, order_type AS kind, credential_id FROM restaurant_order WHERE tenant_id = ${tenantId}`,
    isOpen: IS_OPEN,
    partMs: DAY_MS,
  };
  return { form: 'tallied', tallied: { list, filter: { status, kind: orderType, credentialId, fromId, beforeId } } };
}

/** Returns a condition for each given field of the filter, in a form for which PostgreSQL can use an index. */
function conditionsOf(tenantId: number, filter: OrderFilter): RawBuilder<boolean>[] {
  return [
    ...given(filter.status, (status) => sql`status = ${status}`),
    // The text of the statement contains the statuses `completed` and `cancelled`. If they were parameters, the planner could not use the
    // partial index of open orders.
    ...given(filter.isOpen, () => IS_OPEN),
    ...given(filter.ids, (ids) => sql`id = ANY(${ids}::uuid[])`),
    ...given(filter.credentialId, (id) => sql`credential_id = ${id}::uuid`),
    ...given(filter.orderType, (type) => sql`order_type = ${type}`),
    ...given(filter.externalOrderId, (id) => sql`id = ANY(ARRAY(${idsOf(tenantId, id)}))`),
    ...given(filter.phone, (phone) => sql`customer_digits = ${digitsOf(phone)}`),
    ...given(filter.name, (name) => beginsWith(sql`customer_search_name`, name)),
    ...given(filter.fromId, (id) => sql`id >= ${id}::uuid`),
    ...given(filter.beforeId, (id) => sql`id < ${id}::uuid`),
  ];
}

function given<Value>(value: Value | undefined, make: (value: Value) => RawBuilder<boolean>): RawBuilder<boolean>[] {
  return value === undefined ? [] : [make(value)];
}

/**
 * Returns a query for the ids of the orders with this external id. In the unique key, the credential comes before the external id. So the
 * query searches the key once for each credential of the tenant.
 */
function idsOf(tenantId: number, externalOrderId: string): RawBuilder<unknown> {
  const credentials = sql`SELECT id FROM credential WHERE tenant_id = ${tenantId}`;
  return sql`
    SELECT id FROM restaurant_order
    WHERE tenant_id = ${tenantId} AND external_order_id = ${externalOrderId} AND credential_id = ANY(ARRAY(${credentials}))`;
}
