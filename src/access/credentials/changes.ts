import type { Updateable } from 'kysely';
import { type Actor, type AuditAction, prepareAudit } from '../audit/audit.ts';
import { announceChange, waitForLeasesToEnd } from '#platform/changes/changes.ts';
import type { Database, DB, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, notFound } from '#platform/errors.ts';
import { type Keyring, SecretDecryptionError } from '#platform/keys/keys.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { AUDIENCES, type Audience, createKeyMaker, newSecret, shortenKey } from './api-key.ts';
import type { Credential, CredentialSecret } from './schema.ts';
import {
  type CredentialRow,
  type LockedCredential,
  lockCredential,
  readWebhookSecrets as readStoredSecrets,
  updateCredential,
} from './store.ts';

interface Dependencies {
  db: Database;
  keyring: Keyring;
}

interface Target {
  id: string;
  /** Undefined: any. */
  audience?: Audience;
}

interface OpenCredential {
  tx: Tx;
  row: LockedCredential;
  update: (changes: Updateable<DB['credential']>) => Promise<CredentialRow>;
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
    if (row === undefined || (audience !== undefined && row.audience !== audience)) {
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

function refuseRevoked({ is_active }: CredentialRow): void {
  if (!is_active) {
    throw apiError('invalid_status_transition', 'The credential is revoked. Create a new one.');
  }
}

export function auditDetails({ audience, label }: Pick<CredentialRow, 'audience' | 'label'>): Record<string, unknown> {
  return { audience, label };
}

export function credentialShape(row: CredentialRow): Credential {
  return {
    id: row.id,
    label: row.label,
    api_key: shortenKey(row.api_key),
    webhook_url: uriOf(row.webhook_url),
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_rotated_at: row.last_rotated_at?.toISOString() ?? null,
  };
}

/** A registered URL may have letters outside ASCII, and the contract shows a URI (§2), which has none. */
function uriOf(url: string): string {
  return /^\p{ASCII}*$/u.test(url) ? url : new URL(url).href;
}

/**
 * Gives the credential a new secret. The replaced secret works for the minutes of the overlap, and all older secrets end. Resolves only
 * when no process of the service accepts an ended secret any more (rules 15 and 41).
 * @throws ApiError 409 with the code `invalid_status_transition` if the credential is revoked, or if `keys discard` has made its API key
 * invalid
 */
export async function rotateSecret(
  { db, keyring }: Dependencies,
  actor: Actor,
  target: Target,
  overlapMinutes: number,
): Promise<CredentialSecret & { previous_secret_ends_at: string }> {
  const secret = newSecret();
  const rotated = await changeCredential(db, actor, target, async ({ tx, row, update, note }) => {
    refuseRevoked(row);
    const keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[row.audience as Audience].prefix);
    if (keyMaker.tenantOfApiKey(row.api_key) !== actor.tenantId) {
      throw apiError(
        'invalid_status_transition',
        'The API key stopped working when the operator discarded the keys of the service. Create a new credential.',
      );
    }
    const secret_hash = keyMaker.hashSecret(secret);
    // If the response to the COMMIT was lost, the transaction runs again, but this secret is stored already. A second change would make
    // this secret its own previous secret.
    if (row.secret_hash.equals(secret_hash)) {
      return row;
    }
    await announceChange(tx, actor.tenantId);
    // The end is a time of the database's clock, because each look-up of the credential compares it with this clock. Without an overlap, no
    // hash is stored. So the old secret stays refused even if the clock of the database is set back.
    const previous_secret_ends_at = new Date(row.at.getTime() + overlapMinutes * 60_000);
    const overlap = overlapMinutes === 0 ? null : { previous_secret_ends_at };
    await note('credential.rotated', { ...auditDetails(row), ...overlap });
    const previous = { previous_secret_hash: overlap && row.secret_hash, previous_secret_ends_at };
    return await update({ secret_hash, last_rotated_at: new Date(), ...previous });
  });
  await waitForLeasesToEnd();
  const { id, label, api_key } = rotated;
  // The type of the column allows null, but this rotation has set the time.
  const previousEndsAt = rotated.previous_secret_ends_at as Date;
  return { id, label, api_key, api_secret: secret, previous_secret_ends_at: previousEndsAt.toISOString() };
}

/**
 * Registers the webhook URL of a credential (contract §4, registration rules).
 * @returns the new webhook secret, or an empty text if this URL was already registered, because the URL then keeps its secret. If no key
 * decrypts that secret any more, the URL gets a new one
 * @throws ApiError 409 with the code `invalid_status_transition` for a credential of a PMS or a revoked credential
 */
export async function registerWebhook(
  { db, keyring }: Dependencies,
  actor: Actor,
  target: Target,
  url: string,
): Promise<string> {
  const secret = newSecret();
  let wasStored = false;
  return await changeCredential(db, actor, target, async ({ row, update, note }) => {
    refuseWithoutWebhooks(row);
    const location = webhookSecretLocation(actor.tenantId, row.id);
    const stored = row.webhook_url === url ? decryptIfPossible(keyring, row.webhook_secret, location) : null;
    if (stored !== null) {
      // If the response to the COMMIT was lost, the transaction runs again. If the first run has stored the new secret, the second run must
      // return this secret, because no other response shows it.
      return wasStored && stored === secret ? secret : '';
    }
    const webhook_secret = keyring.encrypt(secret, location);
    await update({ webhook_url: url, webhook_secret });
    wasStored = true;
    await note('webhook.registered', { webhook_url: url });
    return secret;
  });
}

/** Returns the secret, or null if no key decrypts it any more (`keys discard`). Then only a new secret can sign deliveries. */
function decryptIfPossible(keyring: Keyring, secret: Buffer | null, location: string): string | null {
  try {
    return secret && keyring.decrypt(secret, location);
  } catch (error) {
    if (error instanceof SecretDecryptionError) {
      return null;
    }
    throw error;
  }
}

/** Later events cause no delivery, and the deliveries that wait are not sent. */
export async function removeWebhook(db: Database, actor: Actor, id: string): Promise<Credential> {
  const changed = await changeCredential(db, actor, { id }, async ({ row, update, note }) => {
    refuseWithoutWebhooks(row);
    if (row.webhook_url === '') {
      return row;
    }
    await note('webhook.removed', { webhook_url: row.webhook_url });
    return await update({ webhook_url: '', webhook_secret: null });
  });
  return credentialShape(changed);
}

function refuseWithoutWebhooks(row: CredentialRow): void {
  if (row.audience === 'pms') {
    throw apiError('invalid_status_transition', 'The credential is for a PMS, and the PMS API has no webhooks.');
  }
  refuseRevoked(row);
}

/** Encryption binds the secret to this text, so decryption with another text fails. */
export function webhookSecretLocation(tenantId: number, credentialId: string): string {
  return `webhook secret of ${tenantId} ${credentialId}`;
}

export async function readWebhookSecrets(db: Database, tenantId: number) {
  return (await readStoredSecrets(db, tenantId)).map(({ id, secret }) => ({
    location: webhookSecretLocation(tenantId, id),
    ciphertext: secret,
  }));
}
