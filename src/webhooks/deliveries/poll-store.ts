import { sql } from 'kysely';
import type { Db } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';
import { type DueQueue, findDueQueues, IS_FREE, IS_SENT } from './search-store.ts';

/** Number of due deliveries up to which a poll reads only them. Above it, a queue may be so long that it hides the others. */
const FEW = 200;

/**
 * Returns credentials of any tenant that have due deliveries. This is one of the few statements that may read rows of several tenants. Looks
 * for a due delivery of each credential only if many deliveries are due.
 * @param after last credential that the previous search found; null: the search begins with the first credential of the first tenant
 */
export async function findDue(db: Db, after: DueQueue | null, limit: number): Promise<DueQueue[]> {
  const statement = sql<DueQueue>`
    SELECT c.tenant_id AS "tenantId", c.id AS "credentialId", c.webhook_url AS "webhookUrl", ${IS_SENT} AS "isActive"
    FROM delivery AS d JOIN credential AS c ON c.tenant_id = d.tenant_id AND c.id = d.credential_id
    WHERE d.status = 'pending' AND d.next_attempt_at > '-infinity' AND d.next_attempt_at <= now() AND ${IS_FREE}
    ORDER BY d.next_attempt_at LIMIT ${FEW}`;
  const { rows } = await executeByIndex(db, statement);
  return rows.length < Math.min(FEW, limit) ? rows : await findDueQueues(db, after, limit);
}
