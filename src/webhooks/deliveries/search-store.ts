import { sql } from 'kysely';
import type { Db } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import type { DueCredential } from '../events/events.ts';

export interface DueQueue extends DueCredential {
  /** False if the credential is revoked or has no webhook URL. Its deliveries are then stopped and not sent. */
  isActive: boolean;
}

/** SQL condition for a delivery that no worker has leased, so a worker may claim it. */
export const IS_FREE = sql`(leased_until IS NULL OR leased_until <= now())`;

export const IS_SENT = sql`c.is_active AND c.webhook_url <> ''`;

const QUEUE = sql`c.tenant_id AS "tenantId", c.id AS "credentialId", c.webhook_url AS "webhookUrl", ${IS_SENT} AS "isActive"`;
const BEFORE_ALL = { tenantId: 0, credentialId: '00000000-0000-0000-0000-000000000000' };
/** Number of due deliveries up to which a search reads only them. Above it, a queue may be so long that it hides the others. */
const FEW = 200;

/**
 * Returns credentials of any tenant that have due deliveries. This is one of the few statements that may read rows of several tenants. Looks
 * for a due delivery of each credential only if many deliveries are due.
 * @param after last credential that the previous search found; null: the search begins with the first credential of the first tenant
 */
export async function findDue(db: Db, after: DueQueue | null, limit: number): Promise<DueQueue[]> {
  const statement = sql<DueQueue>`
    SELECT ${QUEUE} FROM delivery AS d JOIN credential AS c ON c.tenant_id = d.tenant_id AND c.id = d.credential_id
    WHERE d.status = 'pending' AND d.next_attempt_at > '-infinity' AND d.next_attempt_at <= now() AND ${IS_FREE}
    ORDER BY d.next_attempt_at LIMIT ${FEW}`;
  const { rows } = await executeByIndex(db, statement);
  return rows.length < Math.min(FEW, limit) ? rows : await findDueQueues(db, after, limit);
}

/** Finds the same in the order of tenants and credentials. A long queue costs no more than a short queue. */
export async function findDueQueues(db: Db, after: DueQueue | null, limit: number): Promise<DueQueue[]> {
  const { tenantId, credentialId } = after ?? BEFORE_ALL;
  const statement = sql<DueQueue>`
    SELECT ${QUEUE} FROM credential AS c CROSS JOIN LATERAL (
      SELECT tenant_id FROM delivery
      WHERE tenant_id = c.tenant_id AND credential_id = c.id AND status = 'pending' AND next_attempt_at <= now() AND ${IS_FREE} LIMIT 1
    ) AS due
    WHERE (c.tenant_id, c.id) > (${tenantId}, ${credentialId}::uuid)
    ORDER BY c.tenant_id, c.id LIMIT ${limit}`;
  return (await executeByIndex(db, statement)).rows;
}
