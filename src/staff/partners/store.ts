import { sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import type { CredentialHealth } from './schema.ts';

export interface DeliveryCounts {
  credential_id: string;
  pending: number;
  failed: number;
  last_failed_at: Date | null;
  oldest_pending_at: Date | null;
}

/** Reads only the partial indexes of pending and of failed deliveries, so it stays fast after many successful deliveries. */
export async function countDeliveries(
  db: Database,
  tenantId: number,
  credentialId: string | null = null,
): Promise<DeliveryCounts[]> {
  const isWanted = credentialId === null ? sql`` : sql`AND c.id = ${credentialId}`;
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
    WHERE c.tenant_id = ${tenantId} ${isWanted}
  `.execute(db);
  return rows;
}

type HourRow = Omit<CredentialHealth['hours'][number], 'at'> & {
  /** Number of the hour, counted from the begin of 1970 in UTC. */
  hour: number;
  events: number;
  oldest_id: string;
};

/**
 * Counts the deliveries of the newest `limit` events of a credential, by the hour in the id of the event. Events with an id below `fromId` do
 * not count. The index by `feed_position` has the newest events at its end, because they have no position yet.
 */
export async function countByHour(
  db: Db,
  tenantId: number,
  { credentialId, fromId, limit }: { credentialId: string; fromId: string; limit: number },
): Promise<HourRow[]> {
  const percentile = (fraction: number) => sql`
    round((percentile_cont(${sql.lit(fraction)}) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE status = 'delivered'))::numeric)::int`;
  const { rows } = await executeByIndex(
    db,
    sql<HourRow>`
      WITH newest AS MATERIALIZED (
        SELECT id FROM event WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId}
        ORDER BY feed_position DESC, id DESC LIMIT ${sql.lit(limit)}
      ), recent AS MATERIALIZED (
        SELECT newest.id, ('x' || left(replace(newest.id::text, '-', ''), 12))::bit(48)::bigint / 3600000 AS hour, d.status, d.duration_ms
        FROM newest LEFT JOIN LATERAL (
          SELECT status, (attempts -> -1 ->> 'duration_ms')::float8 AS duration_ms FROM delivery
          WHERE tenant_id = ${tenantId} AND id = newest.id LIMIT 1
        ) AS d ON true
        WHERE newest.id >= ${fromId}
      )
      SELECT hour, count(*) AS events, min(id::text) AS oldest_id,
        count(*) FILTER (WHERE status = 'delivered') AS delivered,
        count(*) FILTER (WHERE status = 'failed') AS failed,
        count(*) FILTER (WHERE status = 'pending') AS pending,
        ${percentile(0.5)} AS p50_ms, ${percentile(0.95)} AS p95_ms
      FROM recent GROUP BY hour ORDER BY hour`,
  );
  return rows;
}
