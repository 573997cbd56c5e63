/** Credentials of partners and PMSs, and the webhook URL that is registered with a credential. */
import { type Actor, prepareAudit } from '../audit/audit.ts';
import { announceChange, waitForLeasesToEnd } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { orNotFound } from '#platform/errors.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { AUDIENCES, type Audience, createKeyMaker, type KeyMaker, newSecret } from './api-key.ts';
import type { Caller } from './authentication.ts';
import { auditDetails, changeCredential, credentialShape, registerWebhook, rotateSecret } from './changes.ts';
import type { Credential, CredentialSecret } from './schema.ts';
import * as store from './store.ts';

export { type Audience, createKeyMaker, type KeyMaker, newSecret } from './api-key.ts';
export { Authentication, type Caller, callerGuard } from './authentication.ts';
export { Credential, CREDENTIAL_EXAMPLE, CredentialPath, CredentialSecret } from './schema.ts';
export { readWebhookSecrets, registerWebhook, removeWebhook, rotateSecret, webhookSecretLocation } from './changes.ts';

export function callerActor({ tenantId, credentialId }: Caller): Actor {
  return { tenantId, type: 'credential', id: credentialId };
}

export class Credentials {
  readonly #db: Database;
  readonly #keyring: Keyring;
  readonly #audience: Audience;
  readonly #keyMaker: KeyMaker;

  constructor({ db, keyring, audience }: { db: Database; keyring: Keyring; audience: Audience }) {
    this.#db = db;
    this.#keyring = keyring;
    this.#audience = audience;
    this.#keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[audience].prefix);
  }

  async list(tenantId: number): Promise<Credential[]> {
    return (await store.listCredentials(this.#db, tenantId, this.#audience)).map(credentialShape);
  }

  /** The key must be complete, not shortened as in the lists. */
  async find(tenantId: number, apiKey: string): Promise<Credential | undefined> {
    const row = await store.findCredential(this.#db, tenantId, this.#audience, apiKey);
    return row && credentialShape(row);
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
      const details = auditDetails({ audience: this.#audience, label });
      await writeDown(tx, { action: 'credential.created', subject: created.id, details });
    });
    return { ...created, api_secret: secret };
  }

  /**
   * Revokes a credential permanently. Revoking it again changes nothing (rule 15). The method resolves only when no process of the
   * service accepts the credential any more. A repeated call waits too.
   */
  async revoke(actor: Actor, id: string): Promise<Credential> {
    const target = { id, audience: this.#audience };
    const revoked = await changeCredential(this.#db, actor, target, async ({ tx, row, update, note }) => {
      await announceChange(tx, actor.tenantId);
      if (!row.is_active) {
        return credentialShape(row);
      }
      await note('credential.revoked', auditDetails(row));
      return credentialShape(await update({ is_active: false }));
    });
    await waitForLeasesToEnd();
    return revoked;
  }

  /** Resolves only when no process of the service accepts an old secret any more (rule 15). */
  async rotate(actor: Actor, id: string): Promise<CredentialSecret> {
    const deps = { db: this.#db, keyring: this.#keyring };
    const target = { id, audience: this.#audience };
    const { previous_secret_ends_at: _, ...secret } = await rotateSecret(deps, actor, target, 0);
    return secret;
  }

  async registerWebhook(caller: Caller, url: string): Promise<string> {
    const target = { id: caller.credentialId, audience: this.#audience };
    return await registerWebhook({ db: this.#db, keyring: this.#keyring }, callerActor(caller), target, url);
  }
}

export interface OwnedCredential {
  audience: Audience;
  credential: Credential;
}

/** Returns a credential of any API. @throws ApiError 404 (code `error`) for an unknown id */
export async function readCredential(db: Database, tenantId: number, id: string): Promise<OwnedCredential> {
  return owned(await readCredentialRow(db, tenantId, id));
}

/** Returns a credential of any API with its sealed webhook secret. @throws ApiError 404 (code `error`) for an unknown id */
export async function readCredentialRow(db: Database, tenantId: number, id: string): Promise<store.CredentialRow> {
  return orNotFound(isUuid(id) ? await store.readCredential(db, tenantId, id) : undefined, 'credential');
}

/** Gives a credential of any API another label. The credential may be revoked. */
export async function renameCredential(
  db: Database,
  actor: Actor,
  id: string,
  label: string,
): Promise<OwnedCredential> {
  return await changeCredential(db, actor, { id }, async ({ row, update, note }) => {
    if (row.label === label) {
      return owned(row);
    }
    const details = { audience: row.audience, before: { label: row.label }, after: { label } };
    await note('credential.changed', details);
    return owned(await update({ label }));
  });
}

function owned(row: store.CredentialRow): OwnedCredential {
  return { audience: row.audience as Audience, credential: credentialShape(row) };
}
