import type { Credentials } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import type { CredentialDeliveries } from './schema.ts';
import { countDeliveries, type DeliveryCounts } from './store.ts';

/** Returns the tenant's third-party credentials, newest first, each with the counts of its pending and failed deliveries. */
export async function listCredentialsWithDeliveries(db: Database, credentials: Credentials, tenantId: number) {
  const [all, counts] = await Promise.all([credentials.list(tenantId), countDeliveries(db, tenantId)]);
  const countsById = new Map(counts.map((row) => [row.credential_id, row]));
  return all.map((credential) => ({ ...credential, deliveries: countsShape(countsById.get(credential.id)) }));
}

/**
 * Returns the delivery counts of one credential as the API shows them. `row` is undefined if the credential was created after the count.
 */
function countsShape(row: DeliveryCounts | undefined): CredentialDeliveries {
  return {
    pending: row?.pending ?? 0,
    failed: row?.failed ?? 0,
    last_failed_at: row?.last_failed_at?.toISOString() ?? null,
    oldest_pending_at: row?.oldest_pending_at?.toISOString() ?? null,
  };
}
