import type { Database } from '#platform/db/database.ts';
import { readPage } from '#platform/db/page.ts';
import type { DeliveryStatus } from '../events/events.ts';

export interface DeliveryRow {
  id: string;
  type: string;
  delivery_status: string | null;
  attempts: unknown;
  created_at: Date;
}

function deliveries(db: Database, tenantId: number, status: DeliveryStatus | undefined) {
  const all = db.selectFrom('event').where('tenant_id', '=', tenantId).where('delivery_status', 'is not', null);
  return status === undefined ? all : all.where('delivery_status', '=', status);
}

const DELIVERY_COLUMNS = ['id', 'type', 'delivery_status', 'attempts', 'created_at'] as const;

/** The deliveries after the given one, newest first. */
export async function readDeliveries(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
  afterId: string | null,
  limit: number,
): Promise<DeliveryRow[]> {
  const list = deliveries(db, tenantId, status);
  return await (afterId === null ? list : list.where('id', '<', afterId))
    .select(DELIVERY_COLUMNS)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function readDeliveryPage(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
  offset: number,
  limit: number,
): Promise<{ count: number; results: DeliveryRow[] }> {
  const ids = deliveries(db, tenantId, status).select('id').orderBy('id', 'desc');
  return await readPage(db, ids, offset, (id) => readDeliveries(db, tenantId, status, id, limit));
}
