import type { Actor } from '../audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { apiError } from '#platform/errors.ts';
import { type Keyring, SecretDecryptionError } from '#platform/keys/keys.ts';
import { newSecret } from './api-key.ts';
import { changeCredential, refuseRevoked, type Target } from './changes.ts';
import * as store from './store.ts';

interface Dependencies {
  db: Database;
  keyring: Keyring;
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

/**
 * Removes the webhook URL and the webhook secret of a credential. Later events then cause no delivery, and the service does not send the
 * deliveries that wait.
 */
export async function removeWebhook(db: Database, actor: Actor, id: string): Promise<store.CredentialRow> {
  return await changeCredential(db, actor, { id, audience: 'any' }, async ({ row, update, note }) => {
    refuseWithoutWebhooks(row);
    if (row.webhook_url === '') {
      return row;
    }
    await note('webhook.removed', { webhook_url: row.webhook_url });
    return await update({ webhook_url: '', webhook_secret: null });
  });
}

function refuseWithoutWebhooks(row: store.CredentialRow): void {
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
  return (await store.readWebhookSecrets(db, tenantId)).map(({ id, secret }) => ({
    location: webhookSecretLocation(tenantId, id),
    ciphertext: secret,
  }));
}
