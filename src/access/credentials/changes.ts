import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, notFound } from '#platform/errors.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { Audience } from './audiences.ts';
import { type CredentialRow, type LockedCredential, lockCredential } from './store.ts';

/** Credential to change: its tenant, its id, and the API that it must be for. */
export interface Target {
  tenantId: number;
  id: string;
  audience: Audience | 'any';
}

/**
 * Locks the credential, and changes it in one transaction.
 * @throws ApiError 404 `error` for an unknown id, and for a credential of another tenant or of another API
 */
export async function changeCredential<T>(
  db: Database,
  { tenantId, id, audience }: Target,
  change: (tx: Tx, row: LockedCredential) => Promise<T>,
): Promise<T> {
  return await inTransaction(db, async (tx) => {
    const row = isUuid(id) ? await lockCredential(tx, tenantId, id) : undefined;
    if (row === undefined || (audience !== 'any' && row.audience !== audience)) {
      throw notFound('credential');
    }
    return await change(tx, row);
  });
}

/** @throws ApiError 409 `invalid_status_transition` if the credential is revoked */
export function refuseRevoked({ is_active }: CredentialRow): void {
  if (!is_active) {
    throw apiError('invalid_status_transition', 'The credential is revoked. Create a new one.');
  }
}

/** Returns the facts about a credential that the audit trail keeps with each change. */
export function auditDetails({ audience, label }: Pick<CredentialRow, 'audience' | 'label'>): Record<string, unknown> {
  return { audience, label };
}
