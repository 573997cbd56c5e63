import type { Updateable } from 'kysely';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Credential as CredentialTable } from '#platform/db/types.ts';
import { apiError, notFound } from '#platform/errors.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { type Actor, type AuditAction, prepareAudit } from '../audit/audit.ts';
import type { Audience } from './audiences.ts';
import { type CredentialRow, type LockedCredential, lockCredential, updateCredential } from './store.ts';

export interface Target {
  id: string;
  audience: Audience | 'any';
}

export interface OpenCredential {
  tx: Tx;
  row: LockedCredential;
  update: (changes: Updateable<CredentialTable>) => Promise<CredentialRow>;
  /** A change has at most one entry. */
  note: (action: AuditAction, details: Record<string, unknown>) => Promise<void>;
}

/**
 * Locks a credential of the actor's tenant, and changes it in one transaction.
 * @throws ApiError 404 (code `error`) for an unknown id, and for a credential of another tenant or of another API
 */
export async function changeCredential<T>(
  db: Database,
  actor: Actor,
  { id, audience }: Target,
  change: (credential: OpenCredential) => Promise<T>,
): Promise<T> {
  const { tenantId } = actor;
  const writeDown = prepareAudit(actor);
  return await inTransaction(db, async (tx) => {
    const row = isUuid(id) ? await lockCredential(tx, tenantId, id) : undefined;
    if (row === undefined || (audience !== 'any' && row.audience !== audience)) {
      throw notFound('credential');
    }
    return await change({
      tx,
      row,
      update: (changes) => updateCredential(tx, tenantId, row.id, changes),
      note: (action, details) => writeDown(tx, { action, subject: row.id, details }),
    });
  });
}

/** Refuses a change of a revoked credential. @throws ApiError 409 `invalid_status_transition` */
export function refuseRevoked({ is_active }: CredentialRow): void {
  if (!is_active) {
    throw apiError('invalid_status_transition', 'The credential is revoked. Create a new one.');
  }
}

export function auditDetails({ audience, label }: Pick<CredentialRow, 'audience' | 'label'>): Record<string, unknown> {
  return { audience, label };
}
