/** The credentials of a tenant as its owner sees them: deliveries, budgets, labels, secrets, webhook URLs. */
import type { Audience, Credentials, OwnedCredential } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import type { Budget } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { firstIdAt, timeOf } from '#platform/lib/ids.ts';
import type { CredentialBudget, CredentialDeliveries, CredentialHealth } from './schema.ts';
import { countByHour, countDeliveries, type DeliveryCounts } from './store.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const MAX_EVENTS = 5_000;
const NO_DELIVERIES = { delivered: 0, failed: 0, pending: 0, p50_ms: null, p95_ms: null };

export type CallBudgets = Record<Audience, Budget>;

export interface Partners {
  db: Database;
  credentials: Credentials;
  keyring: Keyring;
  budgets: CallBudgets;
}

/** Returns the tenant's third-party credentials, newest first, each with the counts of its pending and failed deliveries. */
export async function listCredentialsWithDeliveries(db: Database, credentials: Credentials, tenantId: number) {
  const [all, counts] = await Promise.all([credentials.list(tenantId), countDeliveries(db, tenantId)]);
  const countsById = new Map(counts.map((row) => [row.credential_id, row]));
  return all.map((credential) => ({ ...credential, deliveries: countsShape(countsById.get(credential.id)) }));
}

export async function withDeliveries(db: Database, tenantId: number, credential: OwnedCredential['credential']) {
  const [counts] = await countDeliveries(db, tenantId, credential.id);
  return { ...credential, deliveries: countsShape(counts) };
}

export async function detailOf({ db, budgets }: Partners, tenantId: number, { audience, credential }: OwnedCredential) {
  const [entry, budget, health] = await Promise.all([
    withDeliveries(db, tenantId, credential),
    budgetShape(budgets[audience], credential.id),
    readHealth(db, tenantId, credential.id),
  ]);
  return { ...entry, budget, health };
}

async function budgetShape({ limit, look }: Budget, credentialId: string): Promise<CredentialBudget> {
  const { count, msLeft, isShared } = await look(credentialId);
  return {
    limit,
    used: Math.min(limit, count),
    resets_in_s: Math.ceil(msLeft / 1000),
    is_shared: isShared,
  };
}

/** `row` is undefined if the credential was created after the count. */
function countsShape(row: DeliveryCounts | undefined): CredentialDeliveries {
  return {
    pending: row?.pending ?? 0,
    failed: row?.failed ?? 0,
    last_failed_at: row?.last_failed_at?.toISOString() ?? null,
    oldest_pending_at: row?.oldest_pending_at?.toISOString() ?? null,
  };
}

async function readHealth(db: Database, tenantId: number, credentialId: string): Promise<CredentialHealth> {
  const nowMs = Date.now();
  const dayAgoMs = nowMs - HOURS * HOUR_MS;
  const rows = await countByHour(db, tenantId, { credentialId, fromId: firstIdAt(dayAgoMs), limit: MAX_EVENTS });
  const events = rows.reduce((sum, row) => sum + row.events, 0);
  const [first] = rows;
  const since = events >= MAX_EVENTS && first !== undefined ? timeOf(first.oldest_id) : new Date(dayAgoMs);
  const byHour = new Map(rows.map((row) => [row.hour, row]));
  const hours = [];
  for (let hour = Math.floor(since.getTime() / HOUR_MS); hour <= nowMs / HOUR_MS; hour += 1) {
    const { delivered, failed, pending, p50_ms, p95_ms } = byHour.get(hour) ?? NO_DELIVERIES;
    hours.push({ at: new Date(hour * HOUR_MS).toISOString(), delivered, failed, pending, p50_ms, p95_ms });
  }
  return { since: since.toISOString(), hours };
}
