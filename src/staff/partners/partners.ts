import type { Audience, Credentials, OwnedCredential, OwnerCredentials } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import type { Budget } from '#platform/http/rate-limit.ts';
import { readHealth } from './health.ts';
import type { CredentialBudget, CredentialDeliveries } from './schema.ts';
import { countDeliveries, type DeliveryCounts } from './store.ts';

/**
 * Budgets, which limit the calls of each credential per minute. Each API (third-party or PMS) has one `Budget` object, which counts the
 * calls of all credentials of this API.
 */
export type CallBudgets = Record<Audience, Budget>;

/** Objects with which the staff API reads and changes credentials. */
export interface Partners {
  db: Database;
  credentials: Credentials;
  ownerCredentials: OwnerCredentials;
  budgets: CallBudgets;
}

/** Returns the tenant's third-party credentials, newest first, each with the counts of its pending and failed deliveries. */
export async function listCredentialsWithDeliveries(db: Database, credentials: Credentials, tenantId: number) {
  const [all, counts] = await Promise.all([credentials.list(tenantId), countDeliveries(db, tenantId)]);
  const countsById = new Map(counts.map((row) => [row.credential_id, row]));
  return all.map((credential) => ({ ...credential, deliveries: countsShape(countsById.get(credential.id)) }));
}

/** Returns a credential as an entry of the list, with the counts of its pending and failed deliveries. */
export async function withDeliveries(db: Database, tenantId: number, credential: OwnedCredential['credential']) {
  const [counts] = await countDeliveries(db, tenantId, credential.id);
  return { ...credential, deliveries: countsShape(counts) };
}

/**
 * Returns a credential with the counts of its pending and failed deliveries and with its budget of calls. Also returns the counts of its
 * deliveries in each of the last 24 hours.
 */
export async function detailOf({ db, budgets }: Partners, tenantId: number, { audience, credential }: OwnedCredential) {
  const [entry, budget, health] = await Promise.all([
    withDeliveries(db, tenantId, credential),
    budgetShape(budgets[audience], credential.id),
    readHealth(db, tenantId, credential.id),
  ]);
  return { ...entry, budget, health };
}

/** Reads the budget of a credential. The read itself does not count as a call. */
async function budgetShape({ limit, look }: Budget, credentialId: string): Promise<CredentialBudget> {
  const { count, msLeft, isShared } = await look(credentialId);
  return {
    limit,
    used: Math.min(limit, count),
    resets_in_s: Math.ceil(msLeft / 1000),
    is_shared: isShared,
  };
}

/**
 * Returns the delivery counts of one credential as the API shows them. If `row` is undefined, all counts are zero. This happens if the
 * credential was created after the count.
 */
function countsShape(row: DeliveryCounts | undefined): CredentialDeliveries {
  return {
    pending: row?.pending ?? 0,
    failed: row?.failed ?? 0,
    last_failed_at: row?.last_failed_at?.toISOString() ?? null,
    oldest_pending_at: row?.oldest_pending_at?.toISOString() ?? null,
  };
}
