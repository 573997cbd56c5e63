import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, DB, Tx } from '#platform/db/database.ts';
import { Fields, fieldsOfTable, type Owner, rowsToInsert, selectEach } from '#platform/db/inputs.ts';
import { type WholeList, wholeList } from '#platform/db/whole-list.ts';

/** The lines are the JSON text from the database. They are copied into responses, and never parsed. */
export type OrderRow = Omit<
  Selectable<DB['restaurant_order']>,
  'lines' | 'customer_search_name' | 'customer_digits'
> & { lines: string; credential_label: string };
export type NewOrder = Omit<Insertable<DB['restaurant_order']>, 'ready_by' | 'cancel_reason'> & { lines: string };

const NEW_ORDER = fieldsOfTable('restaurant_order', ['ready_by', 'cancel_reason']);
const OWNER: Owner<NewOrder> = {
  table: 'credential',
  idColumn: 'credential_id',
  key: ['tenant_id', 'credential_id', 'external_order_id'],
};

/**
 * On a database cluster, all orders must belong to one tenant ("The database" in docs/ARCHITECTURE.md).
 * @returns one value for each order: true if it was inserted, false if the credential has an order with this external id already
 */
export async function insertOrders(db: Database, orders: NewOrder[]): Promise<boolean[]> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO restaurant_order
    ${rowsToInsert(db, NEW_ORDER, orders, OWNER)}
    ON CONFLICT (tenant_id, credential_id, external_order_id) DO NOTHING
    RETURNING id
  `.execute(db);
  const inserted = new Set(rows.map(({ id }) => id));
  return orders.map(({ id }) => inserted.has(id));
}

/** The lines are not read, because they may be long. */
export type OrderSummary = Pick<OrderRow, 'id' | 'external_order_id' | 'status'>;
const HEAD = ['id', 'external_order_id', 'status'] as const;

export interface ExternalKey {
  tenantId: number;
  credentialId: string;
  externalOrderId: string;
}

const EXTERNAL_KEY = new Fields<ExternalKey>({ tenantId: 'bigint', credentialId: 'uuid', externalOrderId: 'text' });

/**
 * On a database cluster, all keys must belong to one tenant. The LIMIT makes the planner look up each key in an index, even if the
 * statistics of the table are wrong.
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
  'status_changed_at',
  'ready_by',
  'cancel_reason',
] as const;

/** The LIMIT makes the planner look up the credential of each order in an index. */
export async function readWhole(db: Database, tenantId: number, ids: string[]): Promise<OrderRow[]> {
  const label = sql<string>`(
    SELECT label FROM credential WHERE credential.tenant_id = ${tenantId} AND credential.id = restaurant_order.credential_id LIMIT 1
  )`;
  return await db
    .selectFrom('restaurant_order')
    .select([...WHOLE, label.as('credential_label')])
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute();
}

export type MovableOrder = OrderSummary &
  Pick<Selectable<DB['restaurant_order']>, 'credential_id' | 'order_type' | 'status_changed_at'>;

export async function lockOrder(tx: Tx, tenantId: number, id: string): Promise<MovableOrder | undefined> {
  return await tx
    .selectFrom('restaurant_order')
    .select([...HEAD, 'credential_id', 'order_type', 'status_changed_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function hasRequest(tx: Tx, tenantId: number, orderId: string, requestId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('order_status_change')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('order_id', '=', orderId)
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Each table has a statement of its own, because a cluster cannot send one statement for both tables to one node (architecture, database
 * rule 4).
 */
export async function writeStatus(
  tx: Tx,
  change: Insertable<DB['order_status_change']>,
  more: { ready_by: Date | undefined; cancel_reason: string | undefined },
): Promise<void> {
  await tx
    .updateTable('restaurant_order')
    .set({ status: change.status, status_changed_at: change.changed_at, ...more })
    .where('tenant_id', '=', change.tenant_id)
    .where('id', '=', change.order_id)
    .execute();
  await tx.insertInto('order_status_change').values(change).execute();
}

/** An order has at most a few changes, because its status never goes back. */
export async function readStatusChanges(db: Database, tenantId: number, orderId: string) {
  return await db
    .selectFrom('order_status_change')
    .select(['status', 'changed_at', 'actor_type', 'actor_id'])
    .where('tenant_id', '=', tenantId)
    .where('order_id', '=', orderId)
    .orderBy('id')
    .execute();
}

export function listOfCredential(
  db: Database,
  { tenantId, credentialId }: { tenantId: number; credentialId: string },
): WholeList<OrderSummary> {
  const list = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  return wholeList(db, list.where('credential_id', '=', credentialId), (orders) => orders.select(HEAD));
}
