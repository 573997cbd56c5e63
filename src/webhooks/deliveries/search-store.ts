import { sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import type { DueCredential } from '../events/events.ts';

/** Credential that has due deliveries. */
export interface DueQueue extends DueCredential {
  /** False if the credential is revoked or has no webhook URL. Its deliveries are then stopped and not sent. */
  isActive: boolean;
}

/** SQL condition for a delivery that no worker has leased, so a worker may claim it. */
export const IS_FREE = sql`(leased_until IS NULL OR leased_until <= now())`;

/**
 * Condition for a credential whose deliveries are sent. Deliveries are stopped if the credential is revoked, or if its URL was removed.
 */
export const IS_SENT = sql`c.is_active AND c.webhook_url <> ''`;

const BEFORE_ALL = { tenantId: 0, credentialId: '00000000-0000-0000-0000-000000000000' };

/**
 * Returns credentials of any tenant that have due deliveries, in the order of tenants and credentials. This is one of the few statements
 * that may read rows of several tenants. It looks for a due delivery of each credential, so a long queue costs no more than a short queue.
 * The condition EXISTS ends it before the first credential if no delivery waits at all.
 * @param after last credential that the previous search found; null: the search begins with the first credential of the first tenant
 */
export async function findDueQueues(db: Db, after: DueQueue | null, limit: number): Promise<DueQueue[]> {
  const { tenantId, credentialId } = after ?? BEFORE_ALL;
  const statement = sql<DueQueue>`
    SELECT c.tenant_id AS "tenantId", c.id AS "credentialId", c.webhook_url AS "webhookUrl", ${IS_SENT} AS "isActive"
    FROM credential AS c CROSS JOIN LATERAL (
      SELECT tenant_id FROM delivery
      WHERE tenant_id = c.tenant_id AND credential_id = c.id AND status = 'pending' AND next_attempt_at <= now() AND ${IS_FREE} LIMIT 1
    ) AS due
    WHERE (c.tenant_id, c.id) > (${tenantId}, ${credentialId}::uuid) AND EXISTS (SELECT FROM delivery WHERE status = 'pending' LIMIT 1)
    ORDER BY c.tenant_id, c.id LIMIT ${limit}`;
  return (await executeByIndex(db, statement)).rows;
}

export interface QueueState {
  /** Number of deliveries that are due, under way or waiting for a retry. */
  pending: number;
  /** Seconds for which the oldest due delivery has been due. 0: no delivery is due. */
  oldestDueSeconds: number;
}

/** Reads the number of pending deliveries of all tenants and the age of the oldest due delivery, for the metrics. */
export async function readQueueState(db: Database): Promise<QueueState> {
  const statement = sql<QueueState>`
    SELECT count(*) AS pending,
      coalesce(greatest(0, extract(epoch FROM now() - min(next_attempt_at) FILTER (WHERE ${IS_FREE}))), 0)::float8 AS "oldestDueSeconds"
    FROM delivery WHERE status = 'pending'`;
  const { rows } = await executeByIndex(db, statement);
  return rows[0] ?? { pending: 0, oldestDueSeconds: 0 };
}
