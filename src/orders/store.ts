import type { Insertable, Selectable } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { RestaurantOrder } from '../db/types.ts';
import type { OrderStatus } from './order-status.ts';

export type OrderRow = Selectable<RestaurantOrder>;
type Db = Database | Tx;

/** @returns false where the credential has an order with this external id already */
export async function insertOrder(db: Database, order: Insertable<RestaurantOrder>): Promise<boolean> {
  const inserted = await db
    .insertInto('restaurant_order')
    .values(order)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'credential_id', 'external_order_id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

/** What a partner is told of an order: read from a row without its lines. */
export type OrderHead = Pick<OrderRow, 'id' | 'external_order_id' | 'status'>;
const HEAD = ['id', 'external_order_id', 'status'] as const;

export async function findByExternalId(
  db: Db,
  tenantId: number,
  credentialId: string,
  externalOrderId: string,
): Promise<OrderHead | undefined> {
  return await db
    .selectFrom('restaurant_order')
    .select(HEAD)
    .where('tenant_id', '=', tenantId)
    .where('credential_id', '=', credentialId)
    .where('external_order_id', '=', externalOrderId)
    .executeTakeFirst();
}

export async function findOrder(db: Db, tenantId: number, id: string): Promise<OrderRow | undefined> {
  return await db
    .selectFrom('restaurant_order')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Locks the order until the transaction ends: changes of its status happen one after the other. */
export async function lockOrder(tx: Tx, tenantId: number, id: string): Promise<OrderRow | undefined> {
  return await tx
    .selectFrom('restaurant_order')
    .selectAll()
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

function ofCredential(db: Database, tenantId: number, credentialId: string) {
  return db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId).where('credential_id', '=', credentialId);
}

/** A credential's orders after the given one, newest first. */
export async function readByCredential(
  db: Database,
  tenantId: number,
  credentialId: string,
  afterId: string | null,
  limit: number,
): Promise<OrderHead[]> {
  const list = ofCredential(db, tenantId, credentialId).select(HEAD);
  return await (afterId === null ? list : list.where('id', '<', afterId)).orderBy('id', 'desc').limit(limit).execute();
}

export async function readPageByCredential(
  db: Database,
  tenantId: number,
  credentialId: string,
  offset: number,
  limit: number,
): Promise<{ count: number; results: OrderHead[] }> {
  const list = ofCredential(db, tenantId, credentialId);
  const [{ count }, results] = await Promise.all([
    list.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    list.select(HEAD).orderBy('id', 'desc').offset(offset).limit(limit).execute(),
  ]);
  return { count, results };
}

function ofTenant(db: Database, tenantId: number, status: OrderStatus | undefined) {
  const all = db.selectFrom('restaurant_order').where('tenant_id', '=', tenantId);
  return status === undefined ? all : all.where('status', '=', status);
}

/** The tenant's orders after the given one, newest first, whole. */
export async function readByTenant(
  db: Database,
  tenantId: number,
  status: OrderStatus | undefined,
  afterId: string | null,
  limit: number,
): Promise<OrderRow[]> {
  const list = ofTenant(db, tenantId, status).selectAll();
  return await (afterId === null ? list : list.where('id', '<', afterId)).orderBy('id', 'desc').limit(limit).execute();
}

export async function readPageByTenant(
  db: Database,
  tenantId: number,
  status: OrderStatus | undefined,
  offset: number,
  limit: number,
): Promise<{ count: number; results: OrderRow[] }> {
  const list = ofTenant(db, tenantId, status);
  const [{ count }, results] = await Promise.all([
    list.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    list.selectAll().orderBy('id', 'desc').offset(offset).limit(limit).execute(),
  ]);
  return { count, results };
}
