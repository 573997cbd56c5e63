import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, Tx } from '#platform/db/database.ts';
import { Fields, rowsToInsert, selectEach } from '#platform/db/inputs.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { RestaurantOrder } from '#platform/db/types.ts';
import type { OrderStatus } from './order-status.ts';

/** Stored order. Its lines are the JSON text from the database, because they may have megabytes and are never parsed. */
export type OrderRow = Omit<Selectable<RestaurantOrder>, 'lines' | 'status_request_id'> & { lines: string };
/** New order. Its status has not changed yet, so it has no `status_request_id`. */
export type NewOrder = Omit<Insertable<RestaurantOrder>, 'status_request_id'> & { lines: string };

const NEW_ORDER = new Fields<NewOrder>({
  tenant_id: 'bigint',
  id: 'uuid',
  credential_id: 'uuid',
  external_order_id: 'text',
  status: 'text',
  order_type: 'text',
  customer_name: 'text',
  customer_phone: 'text',
  delivery_address: 'text',
  notes: 'text',
  lines: 'json',
  total: 'numeric',
  currency: 'text',
  created_at: 'timestamptz',
});

/**
 * Inserts orders. They may belong to different tenants only if the database is one node ("The database" in docs/ARCHITECTURE.md).
 * @returns one value for each order: true if it was inserted, false if the credential has an order with this external id already
 */
export async function insertOrders(db: Database, orders: NewOrder[]): Promise<boolean[]> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO restaurant_order
    ${rowsToInsert(db, NEW_ORDER, orders, ['tenant_id', 'credential_id', 'external_order_id'])}
    ON CONFLICT (tenant_id, credential_id, external_order_id) DO NOTHING
    RETURNING id
  `.execute(db);
  const inserted = new Set(rows.map(({ id }) => id));
  return orders.map(({ id }) => inserted.has(id));
}

/** Columns of an order that partners see. The lines are not read, because they may be large. */
export type OrderSummary = Pick<OrderRow, 'id' | 'external_order_id' | 'status'>;
const HEAD = ['id', 'external_order_id', 'status'] as const;

/** Key by which a partner identifies an order. */
export interface ExternalKey {
  tenantId: number;
  credentialId: string;
  externalOrderId: string;
}

const EXTERNAL_KEY = new Fields<ExternalKey>({ tenantId: 'bigint', credentialId: 'uuid', externalOrderId: 'text' });

/**
 * Finds orders by their external ids. The keys may belong to different tenants only if the database is one node ("The database" in
 * docs/ARCHITECTURE.md). The LIMIT makes the planner use an index look-up for each key, even if its statistics are wrong.
 * @returns one value for each key: the order, or undefined if there is no such order
 */
export async function findByExternalIds(db: Database, keys: ExternalKey[]): Promise<(OrderSummary | undefined)[]> {
  return await selectEach(
    db,
    EXTERNAL_KEY,
    keys,
    ({ tenantId, credentialId, externalOrderId }) => sql<OrderSummary>`
      SELECT ${sql.join(HEAD.map((column) => sql.id(column)))} FROM restaurant_order
      WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId} AND external_order_id = ${externalOrderId}
      LIMIT 1
    `,
  );
}

const WHOLE = [
  'tenant_id',
  'id',
  'credential_id',
  'external_order_id',
  'status',
  'order_type',
  'customer_name',
  'customer_phone',
  'delivery_address',
  'notes',
  sql<string>`lines::text`.as('lines'),
  'total',
  'currency',
  'created_at',
] as const;

/** Reads the orders of the tenant that have these ids, with all columns, newest first. */
export async function readWhole(db: Database, tenantId: number, ids: string[]): Promise<OrderRow[]> {
  return await db
    .selectFrom('restaurant_order')
    .select(WHOLE)
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .orderBy('id', 'desc')
    .execute();
}

/** Columns that a change of status needs for its check, its event and its response. */
export type MovableOrder = OrderSummary &
  Pick<Selectable<RestaurantOrder>, 'credential_id' | 'order_type' | 'status_request_id'>;

/** Locks the order until the transaction ends, so that changes of its status happen one after the other. */
export async function lockOrder(tx: Tx, tenantId: number, id: string): Promise<MovableOrder | undefined> {
  return await tx
    .selectFrom('restaurant_order')
    .select([...HEAD, 'credential_id', 'order_type', 'status_request_id'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateStatus(
  tx: Tx,
  tenantId: number,
  id: string,
  change: { status: OrderStatus; status_request_id: string | null },
): Promise<void> {
  await tx.updateTable('restaurant_order').set(change).where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** Returns the list of a credential's orders, newest first. */
export function listOfCredential(db: Database, tenantId: number, credentialId: string): KeysetList<OrderSummary> {
  const list = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  return keysetList(db, list.where('credential_id', '=', credentialId), (orders) => orders.select(HEAD));
}

/** Order of the tenant in a list, with its estimated size and without its lines. */
export interface ListedOrder {
  id: string;
  status: string;
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

/**
 * Returns the list of the tenant's orders, newest first, without their long fields. If a status is given, the list has only the orders
 * with this status.
 */
export function listOfTenant(db: Database, tenantId: number, status: OrderStatus | undefined): KeysetList<ListedOrder> {
  const all = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  const list = status === undefined ? all : all.where('status', '=', status);
  return keysetList(db, list, (orders) => orders.select(['id', 'status', SIZE.as('size')]));
}
