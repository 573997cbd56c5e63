import type { Database } from '#platform/db/database.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { DeliveryStatus } from '../events/events.ts';

export interface DeliveryRow {
  id: string;
  type: string;
  delivery_status: string | null;
  attempts: unknown;
  created_at: Date;
}

/** Returns the tenant's deliveries, newest first. If `status` is given, returns only the deliveries in that status. */
export function listDeliveries(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
): KeysetList<DeliveryRow> {
  const all = db.selectFrom('event').where('tenant_id', '=', tenantId).where('delivery_status', 'is not', null);
  const list = status === undefined ? all : all.where('delivery_status', '=', status);
  return keysetList(db, list, (events) => events.select(['id', 'type', 'delivery_status', 'attempts', 'created_at']));
}
