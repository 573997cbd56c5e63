import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';

export interface DeliveryCounts {
  credential_id: string;
  pending: number;
  failed: number;
  last_failed_at: Date | null;
  oldest_pending_at: Date | null;
}

/**
 * Counts the pending and the failed deliveries of each credential of the tenant. The query reads only the partial indexes of pending and of
 * failed deliveries. So the successful deliveries, of which there are many, do not make it slower.
 */
export async function countDeliveries(db: Database, tenantId: number): Promise<DeliveryCounts[]> {
  const { rows } = await sql<DeliveryCounts>`
    SELECT c.id AS credential_id, p.pending, e.created_at AS oldest_pending_at, f.failed, l.last_failed_at
    FROM credential AS c
    CROSS JOIN LATERAL (
      SELECT count(*) AS pending, min(id::text)::uuid AS oldest_id FROM delivery
      WHERE tenant_id = ${tenantId} AND credential_id = c.id AND status = 'pending'
    ) AS p
    LEFT JOIN event AS e ON e.tenant_id = ${tenantId} AND e.id = p.oldest_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS failed FROM delivery
      WHERE tenant_id = ${tenantId} AND credential_id = c.id AND status = 'failed'
    ) AS f
    LEFT JOIN LATERAL (
      SELECT (attempts -> -1 ->> 'at')::timestamptz AS last_failed_at FROM delivery
      WHERE tenant_id = ${tenantId} AND credential_id = c.id AND status = 'failed'
      ORDER BY id DESC LIMIT 1
    ) AS l ON true
    WHERE c.tenant_id = ${tenantId}
  `.execute(db);
  return rows;
}
