import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, Tx } from '#platform/db/database.ts';
import { Fields, rowsToInsert, selectEach } from '#platform/db/inputs.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { RestaurantOrder } from '#platform/db/types.ts';
import type { OrderStatus } from './order-status.ts';

/** An order whose lines are the JSON that was stored: they may be megabytes, and nobody needs to look into them. */
export type OrderRow = Omit<Selectable<RestaurantOrder>, 'lines'> & { lines: string };
export type NewOrder = Insertable<RestaurantOrder> & { lines: string };

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
 * Inserts orders; several may be of any tenants (one of the statements that may; on one node alone).
 * @returns for each order in turn whether it was inserted: false if the credential has an order with this external id already
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

/** The columns of an order that partners see. The lines, which may be large, are not read. */
export type OrderSummary = Pick<OrderRow, 'id' | 'external_order_id' | 'status'>;
const HEAD = ['id', 'external_order_id', 'status'] as const;

/** What a partner calls an order by. */
export interface ExternalKey {
  tenantId: number;
  credentialId: string;
  externalOrderId: string;
}

const EXTERNAL_KEY = new Fields<ExternalKey>({ tenantId: 'bigint', credentialId: 'uuid', externalOrderId: 'text' });

/**
 * Looks orders up; several may be of any tenants (one of the statements that may; on one node alone). The LIMIT makes it a look-up in
 * the index for each key, whatever the planner believes of the table.
 * @returns for each key in turn its order
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

/** Several orders of the tenant whole, newest first. */
export async function readWhole(db: Database, tenantId: number, ids: string[]): Promise<OrderRow[]> {
  return await db
    .selectFrom('restaurant_order')
    .select(WHOLE)
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .orderBy('id', 'desc')
    .execute();
}

/** The columns that a change of status needs: for its rule, its event and its answer. */
export type MovableOrder = OrderSummary & Pick<OrderRow, 'credential_id' | 'order_type'>;

/** Locks the order until the transaction ends: changes of its status happen one after the other. */
export async function lockOrder(tx: Tx, tenantId: number, id: string): Promise<MovableOrder | undefined> {
  return await tx
    .selectFrom('restaurant_order')
    .select([...HEAD, 'credential_id', 'order_type'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateStatus(tx: Tx, tenantId: number, id: string, status: OrderStatus): Promise<void> {
  await tx
    .updateTable('restaurant_order')
    .set({ status })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** A credential's orders, newest first. */
export function listOfCredential(db: Database, tenantId: number, credentialId: string): KeysetList<OrderSummary> {
  const list = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  return keysetList(db, list.where('credential_id', '=', credentialId), (orders) => orders.select(HEAD));
}

/** Where an order of the tenant is found, and about how large it is. */
export interface ListedOrder {
  id: string;
  status: string;
  /** Bytes, to plan with: compressed lines count four times what they take. None is unpacked to tell. */
  size: number;
}

const SIZE = sql<number>`
  pg_column_size(lines) * CASE WHEN pg_column_compression(lines) IS NULL THEN 1 ELSE 4 END
    + coalesce(octet_length(notes), 0) + coalesce(octet_length(delivery_address), 0)
`;

/** The tenant's orders, newest first, without what may be large in them. */
export function listOfTenant(db: Database, tenantId: number, status: OrderStatus | undefined): KeysetList<ListedOrder> {
  const all = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  const list = status === undefined ? all : all.where('status', '=', status);
  return keysetList(db, list, (orders) => orders.select(['id', 'status', SIZE.as('size')]));
}
