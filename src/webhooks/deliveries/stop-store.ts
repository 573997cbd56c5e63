import { sql } from 'kysely';
import type { Database } from '#platform/db/database.ts';
import { executeByIndex } from '#platform/db/transaction.ts';

/** Number of deliveries that one statement stops. It is small, so that the statement holds its locks only briefly. */
const BATCH_SIZE = 1_000;

/**
 * Stops a batch of pending deliveries of a credential. Takes only deliveries with an id below `beforeId`, so only deliveries of older
 * events. Skips the deliveries that another statement has locked, so two statements never wait for each other. A delivery keeps its lease,
 * so that the outcome of an attempt under way is still recorded.
 * @returns the number of stopped deliveries
 */
export async function stopBatch(
  db: Database,
  { tenantId, credentialId, beforeId }: { tenantId: number; credentialId: string; beforeId: string },
): Promise<number> {
  const { rows } = await executeByIndex(
    db,
    sql`
      WITH waiting AS MATERIALIZED (
        SELECT id FROM delivery
        WHERE tenant_id = ${tenantId} AND credential_id = ${credentialId} AND status = 'pending' AND id < ${beforeId}
        ORDER BY next_attempt_at LIMIT ${sql.lit(BATCH_SIZE)} FOR UPDATE SKIP LOCKED
      )
      UPDATE delivery AS d SET status = 'stopped' FROM waiting
      WHERE d.tenant_id = ${tenantId} AND d.id = waiting.id
      RETURNING d.id`,
  );
  return rows.length;
}
