import { type Actor, prepareAudit } from '../audit/audit.ts';
import { announceChange, waitForLeasesToEnd } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, notFound } from '#platform/errors.ts';
import type { Keyring, SecretColumn } from '#platform/keys/keys.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { createKeyMaker, type KeyMaker, newSecret, shortenKey } from './api-key.ts';
import type { Caller } from './authentication.ts';
import { AUDIENCES, type Audience } from './audiences.ts';
import type { Credential, CredentialSecret } from './schema.ts';
import * as store from './store.ts';

export { createKeyMaker, type KeyMaker, newSecret } from './api-key.ts';
export { Authentication, type Caller } from './authentication.ts';
export { CREDENTIAL_EXAMPLE, CredentialPath } from './schema.ts';

interface Dependencies {
  db: Database;
  keyring: Keyring;
  audience: Audience;
}

/** Returns the actor that the audit trail records for a change by this caller. */
export function callerActor({ tenantId, credentialId }: Caller): Actor {
  return { tenantId, type: 'credential', id: credentialId };
}

/** Issues, lists, rotates and revokes the credentials of one API (third-party API or PMS API), for all tenants. */
export class Credentials {
  readonly #db: Database;
  readonly #keyring: Keyring;
  readonly #audience: Audience;
  readonly #keyMaker: KeyMaker;

  constructor({ db, keyring, audience }: Dependencies) {
    this.#db = db;
    this.#keyring = keyring;
    this.#audience = audience;
    this.#keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[audience].prefix);
  }

  async list(tenantId: number): Promise<Credential[]> {
    return (await store.listCredentials(this.#db, tenantId, this.#audience)).map(shape);
  }

  /** Returns the tenant's credential that has this API key, or undefined. The key must be complete, not shortened as in the lists. */
  async find(tenantId: number, apiKey: string): Promise<Credential | undefined> {
    const row = await store.findCredential(this.#db, tenantId, this.#audience, apiKey);
    return row && shape(row);
  }

  async create(actor: Actor, label = ''): Promise<CredentialSecret> {
    const { tenantId } = actor;
    const writeDown = prepareAudit(actor);
    const secret = newSecret();
    const created = { id: newId(), label, api_key: this.#keyMaker.newApiKey(tenantId) };
    await inTransaction(this.#db, async (tx) => {
      await store.insertCredential(tx, tenantId, {
        ...created,
        audience: this.#audience,
        secret_hash: this.#keyMaker.hashSecret(secret),
      });
      await writeDown(tx, { action: 'credential.created', subject: created.id, details: this.#detailsOf(label) });
    });
    return { ...created, api_secret: secret };
  }

  /**
   * Revokes a credential permanently. Revoking it again changes nothing (decision 15). The method resolves only when no process of the
   * service accepts the credential any more. A repeated call waits in the same way, because the first call may still be waiting, or its
   * response may be lost.
   */
  async revoke(actor: Actor, id: string): Promise<Credential> {
    const writeDown = prepareAudit(actor);
    const revoked = await this.#change(actor.tenantId, id, async (tx, row) => {
      await announceChange(tx, actor.tenantId);
      if (!row.is_active) {
        return shape(row);
      }
      await writeDown(tx, { action: 'credential.revoked', subject: row.id, details: this.#detailsOf(row.label) });
      return shape(await store.updateCredential(tx, actor.tenantId, row.id, { is_active: false }));
    });
    await waitForLeasesToEnd();
    return revoked;
  }

  /** Gives the credential a new secret. Resolves only when no process of the service accepts the old secret any more (decision 15). */
  async rotate(actor: Actor, id: string): Promise<CredentialSecret> {
    const secret = newSecret();
    const writeDown = prepareAudit(actor);
    const rotated = await this.#change(actor.tenantId, id, async (tx, row) => {
      if (!row.is_active) {
        throw apiError('invalid_status_transition', 'The credential is revoked. Create a new one.');
      }
      await announceChange(tx, actor.tenantId);
      await writeDown(tx, { action: 'credential.rotated', subject: row.id, details: this.#detailsOf(row.label) });
      await store.updateCredential(tx, actor.tenantId, row.id, {
        secret_hash: this.#keyMaker.hashSecret(secret),
        last_rotated_at: new Date(),
      });
      return { id: row.id, label: row.label, api_key: row.api_key, api_secret: secret };
    });
    await waitForLeasesToEnd();
    return rotated;
  }

  /**
   * Registers the webhook URL of a credential (contract §4, registration rules).
   * @returns the new webhook secret, or an empty text if this URL was already registered, because the URL then keeps its secret
   */
  async registerWebhook({ tenantId, credentialId }: Caller, url: string): Promise<string> {
    const secret = newSecret();
    const writeDown = prepareAudit({ tenantId, type: 'credential', id: credentialId });
    const location = webhookSecretLocation(tenantId, credentialId);
    let wasStored = false;
    return await this.#change(tenantId, credentialId, async (tx, row) => {
      if (row.webhook_url === url) {
        // If a COMMIT got no response, the transaction runs again. If the first run stored the new secret, the method must return it,
        // because no other response shows the secret. The decrypted secrets are compared, because a rotation of the service keys may have
        // changed the ciphertext.
        const isFromEarlierRun =
          wasStored && row.webhook_secret && (await this.#keyring.decrypt(row.webhook_secret, location)) === secret;
        return isFromEarlierRun ? secret : '';
      }
      const webhook_secret = await this.#keyring.encrypt(tx, secret, location);
      await store.updateCredential(tx, tenantId, row.id, { webhook_url: url, webhook_secret });
      wasStored = true;
      await writeDown(tx, { action: 'webhook.registered', subject: row.id, details: { webhook_url: url } });
      return secret;
    });
  }

  #detailsOf(label: string): Record<string, unknown> {
    return { audience: this.#audience, label };
  }

  async #change<T>(tenantId: number, id: string, change: (tx: Tx, row: store.CredentialRow) => Promise<T>): Promise<T> {
    return await inTransaction(this.#db, async (tx) => {
      const row = isUuid(id) ? await store.lockCredential(tx, tenantId, this.#audience, id) : undefined;
      if (row === undefined) {
        throw notFound('credential');
      }
      return await change(tx, row);
    });
  }
}

/**
 * Returns the text that names the tenant and the credential of a webhook secret. Encryption binds the secret to this text, so decryption
 * with another text fails.
 */
export function webhookSecretLocation(tenantId: number, credentialId: string): string {
  return `webhook secret of ${tenantId} ${credentialId}`;
}

/** Access to the encrypted webhook secrets of all credentials, for the rotation of the service keys. */
export const webhookSecrets: SecretColumn = {
  async readBefore(db, tenantId, bytes, afterId, limit) {
    const rows = await store.readWebhookSecretsBefore(db, tenantId, bytes, afterId, limit);
    return rows.map(({ id, webhook_secret }) => ({
      id,
      location: webhookSecretLocation(tenantId, id),
      ciphertext: webhook_secret,
    }));
  },
  replace: (tx, tenantId, { id, ciphertext: from }, to) => store.replaceWebhookSecret(tx, tenantId, { id, from, to }),
};

function shape(row: store.CredentialRow): Credential {
  return {
    id: row.id,
    label: row.label,
    api_key: shortenKey(row.api_key),
    webhook_url: row.webhook_url,
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_rotated_at: row.last_rotated_at?.toISOString() ?? null,
  };
}
