import { type RawBuilder, sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { type IdOrder, type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import { beginsWith, digitsOf } from '#platform/db/search-text.ts';
import type { OrderStatus, OrderType } from './order-status.ts';
import { STATUS_CHANGED_AT } from './store.ts';

/** Values of the conditions of a list. */
interface Conditions {
  status: OrderStatus;
  /** True: only orders that are neither completed nor cancelled. */
  isOpen: boolean;
  ids: string[];
  credentialId: string;
  orderType: OrderType;
  externalOrderId: string;
  /** Text whose digits equal the digits of the customer's phone. */
  phone: string;
  /** Begin of the customer's name, without case and accents. */
  name: string;
  /** Smallest id of the list. Ids contain the time, so this is a bound of the time. */
  fromId: string;
  /** Smallest id after the list. */
  beforeId: string;
}

/** Conditions of a list. All of them must be true. A field that is missing or undefined is no condition. */
export type OrderFilter = { [Field in keyof Conditions]?: Conditions[Field] | undefined };

/** Order of the tenant in a list, with its estimated size and without its lines. */
export interface ListedOrder {
  id: string;
  status: string;
  status_changed_at: Date | null;
  /**
   * Estimated size in bytes. Lines that are stored compressed are estimated at four times their stored size, because it would be slow to
   * decompress them.
   */
  size: number;
}

const SIZE = sql<number>`
  pg_column_size(lines) * CASE WHEN pg_column_compression(lines) IS NULL THEN 1 ELSE 4 END
    + coalesce(octet_length(notes), 0) + coalesce(octet_length(delivery_address), 0)
`;

/** Returns the list of the tenant's orders that pass the filter, without their long fields. */
export function listOfTenant(
  db: Database,
  tenantId: number,
  filter: OrderFilter,
  order: IdOrder,
): KeysetList<ListedOrder> {
  const list = conditionsOf(tenantId, filter).reduce(
    (orders, condition) => orders.where(condition),
    db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId),
  );
  const select = (orders: typeof list) => orders.select(['id', 'status', STATUS_CHANGED_AT, SIZE.as('size')]);
  return keysetList(db, list, select, order);
}

/** Makes the condition of each field of a filter, in a form that an index answers. */
const CONDITIONS: { [Field in keyof Conditions]: (value: Conditions[Field], tenantId: number) => RawBuilder<boolean> } = {
  status: (status) => sql`status = ${status}`,
  // The statuses are no parameters, because the planner must see that they are those of the partial index.
  isOpen: () => sql`status NOT IN ('completed', 'cancelled')`,
  ids: (ids) => sql`id = ANY(${ids}::uuid[])`,
  credentialId: (id) => sql`credential_id = ${id}::uuid`,
  orderType: (type) => sql`order_type = ${type}`,
  // The unique key has the credential before the external id. So the subquery looks the id up for each credential of the tenant.
  externalOrderId: (id, tenantId) => sql`id = ANY(ARRAY(
    SELECT id FROM restaurant_order WHERE tenant_id = ${tenantId} AND external_order_id = ${id} AND credential_id = ANY(ARRAY(
      SELECT id FROM credential WHERE tenant_id = ${tenantId}
    ))
  ))`,
  phone: (phone) => sql`customer_phone IS NOT NULL AND ${digitsOf(sql`customer_phone`)} = ${digitsOf(sql`${phone}::text`)}`,
  name: (name) => sql`customer_name IS NOT NULL AND ${beginsWith(sql`customer_name`, name)}`,
  fromId: (id) => sql`id >= ${id}::uuid`,
  beforeId: (id) => sql`id < ${id}::uuid`,
};

function conditionsOf(tenantId: number, filter: OrderFilter): RawBuilder<boolean>[] {
  const make = <Field extends keyof Conditions>(field: Field): RawBuilder<boolean>[] => {
    const value: Conditions[Field] | undefined = filter[field];
    return value === undefined ? [] : [CONDITIONS[field](value, tenantId)];
  };
  return (Object.keys(CONDITIONS) as (keyof Conditions)[]).flatMap((field) => make(field));
}
