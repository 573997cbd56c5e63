import type { Actor } from '../audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { notFound } from '#platform/errors.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { Audience } from './audiences.ts';
import { changeCredential } from './changes.ts';
import { rotateSecret } from './rotation.ts';
import type { Credential, CredentialSecret } from './schema.ts';
import { credentialShape } from './shape.ts';
import * as store from './store.ts';
import { registerWebhook, removeWebhook } from './webhook.ts';

export interface OwnedCredential {
  audience: Audience;
  credential: Credential;
}

export class OwnerCredentials {
  readonly #db: Database;
  readonly #keyring: Keyring;

  constructor({ db, keyring }: { db: Database; keyring: Keyring }) {
    this.#db = db;
    this.#keyring = keyring;
  }

  /** Returns the credential. @throws ApiError 404 (code `error`) for an unknown id */
  async read(tenantId: number, id: string): Promise<OwnedCredential> {
    const row = isUuid(id) ? await store.readCredential(this.#db, tenantId, id) : undefined;
    if (row === undefined) {
      throw notFound('credential');
    }
    return owned(row);
  }

  /** Gives the credential another label. The credential may be revoked. */
  async rename(actor: Actor, id: string, label: string): Promise<OwnedCredential> {
    return await changeCredential(this.#db, actor, { id, audience: 'any' }, async ({ row, update, note }) => {
      if (row.label === label) {
        return owned(row);
      }
      const details = { audience: row.audience, before: { label: row.label }, after: { label } };
      await note('credential.changed', details);
      return owned(await update({ label }));
    });
  }

  /** Registers the webhook URL of a credential for the owner. The same rules apply as for a partner who registers the URL. */
  async registerWebhook(actor: Actor, id: string, url: string): Promise<string> {
    return await registerWebhook({ db: this.#db, keyring: this.#keyring }, actor, { id, audience: 'any' }, url);
  }

  /** Removes the webhook URL of a credential. The waiting deliveries stay, but no process sends them any more. */
  async removeWebhook(actor: Actor, id: string): Promise<Credential> {
    return credentialShape(await removeWebhook(this.#db, actor, id));
  }

  /** The replaced secret works for `overlapMinutes` more minutes (decision 41). */
  async rotate(
    actor: Actor,
    id: string,
    overlapMinutes: number,
  ): Promise<CredentialSecret & { previous_secret_ends_at: string }> {
    const deps = { db: this.#db, keyring: this.#keyring };
    const { secret, previousEndsAt } = await rotateSecret(deps, actor, { id, audience: 'any' }, overlapMinutes);
    return { ...secret, previous_secret_ends_at: previousEndsAt.toISOString() };
  }
}

function owned(row: store.CredentialRow): OwnedCredential {
  return { audience: row.audience as Audience, credential: credentialShape(row) };
}
