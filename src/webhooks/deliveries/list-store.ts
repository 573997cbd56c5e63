import type { Database } from '#platform/db/database.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { DeliveryStatus, StoredAttempts } from '../events/events.ts';

export interface DeliveryRow extends StoredAttempts {
  id: string;
  status: string;
  type: string;
  created_at: Date;
}

/** Returns the tenant's deliveries, newest first. If `status` is given, returns only the deliveries in that status. */
export function listDeliveries(
  db: Database,
  tenantId: number,
  status: DeliveryStatus | undefined,
): KeysetList<DeliveryRow> {
  const all = db.selectFrom('delivery').where('tenant_id', '=', tenantId);
  const list = status === undefined ? all : all.where('status', '=', status);
  return keysetList(db, list, (deliveries) =>
    deliveries
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('event')
            .select(['type', 'created_at'])
            .where('event.tenant_id', '=', tenantId) // A cluster finds the node of a subquery only by its own parameter.
            .whereRef('event.id', '=', 'delivery.id')
            .limit(1)
            .as('event'),
        (join) => join.onTrue(),
      )
      .select(['id', 'status', 'attempts', 'attempt_count', 'claimed_at', 'type', 'created_at']),
  );
}
