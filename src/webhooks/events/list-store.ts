import { sql } from 'kysely';
import { given, type KeysetList, NEWEST_FIRST } from '#platform/db/keyset-list.ts';
import type { EventWithDelivery } from './attempts.ts';
import type { EventType } from './event-types.ts';

export interface EventFilter {
  credentialId?: string | undefined;
  type?: EventType | undefined;
  ids?: string[] | undefined;
}

export interface ListedEvent extends EventWithDelivery {
  id: string;
  credential_id: string;
}

export function listEvents(tenantId: number, { credentialId, type, ids }: EventFilter): KeysetList<ListedEvent> {
  return {
    ...NEWEST_FIRST,
    name: 'events',
    from: sql`event`,
    ofTenant: sql`tenant_id = ${tenantId}`,
    indexed: given(type, (value) => ({ column: 'type', type: 'text', value })),
    searches: [
      ...given(ids, (some) => ({ isMatch: sql`id = ANY (${some}::uuid[])` })),
      ...given(credentialId, (id) => ({ isMatch: sql`credential_id = ${id}::uuid` })),
    ],
    row: sql`
      SELECT e.id, e.credential_id, e.body, d.status, d.attempts, d.attempt_count, d.claimed_at
      FROM event AS e LEFT JOIN LATERAL (
        SELECT status, attempts, attempt_count, claimed_at FROM delivery WHERE tenant_id = ${tenantId} AND id = e.id LIMIT 1
      ) AS d ON true
      WHERE e.tenant_id = ${tenantId} AND e.id = page.id`,
  };
}
