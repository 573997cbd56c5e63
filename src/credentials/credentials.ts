import { timingSafeEqual } from 'node:crypto';
import { type Actor, prepareAudit } from '../audit/audit.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { apiError, notFound } from '../errors.ts';
import type { Keyring, SecretColumn } from '../keys/keys.ts';
import { isUuid, newId } from '../lib/ids.ts';
import type { Feature } from '../tenants/tenants.ts';
import { createKeyMaker, type KeyMaker, newSecret } from './api-key.ts';
import { createLastUsed, type LastUsed } from './last-used.ts';
import type { Credential, CredentialSecret } from './schema.ts';
import * as store from './store.ts';

export { createKeyMaker, type KeyMaker, newSecret } from './api-key.ts';

/** The partner behind a request, and what its tenant lets it do. */
export interface Caller {
  tenantId: number;
  credentialId: string;
  features: Feature[];
  currency: string;
}

interface Dependencies {
  db: Database;
  keyring: Keyring;
  audience: store.Audience;
  /** Told when a background write of last use failed. */
  onError: (error: unknown) => void;
}

/** A caller as the audit trail names it. */
export function callerActor({ tenantId, credentialId }: Caller): Actor {
  return { tenantId, type: 'credential', id: credentialId };
}

/** The headers a credential is shown in, and the prefix of its key, for each of the two APIs. */
const AUDIENCES = {
  third_party: { headers: 'X-API-Key and X-API-Secret', prefix: 'rsk_' },
  pms: { headers: 'X-PMS-API-Key and X-PMS-API-Secret', prefix: 'rpk_' },
} as const;

/** The credentials of one API and all tenants: issued and withdrawn by owners, shown with every call by partners. */
export class Credentials {
  readonly #db: Database;
  readonly #keyring: Keyring;
  readonly #audience: store.Audience;
  readonly #keyMaker: KeyMaker;
  readonly #lastUsed: LastUsed;

  constructor({ db, keyring, audience, onError }: Dependencies) {
    this.#db = db;
    this.#keyring = keyring;
    this.#audience = audience;
    this.#keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[audience].prefix);
    this.#lastUsed = createLastUsed(db, onError);
  }

  /**
   * @throws ApiError 401 `invalid_credentials` for a missing, unknown or inactive key and for a wrong secret, with the same
   * answer and after the same work
   */
  async authenticate(apiKey: unknown, apiSecret: unknown): Promise<Caller> {
    const key = typeof apiKey === 'string' ? apiKey : '';
    const tenantId = this.#keyMaker.tenantOfApiKey(key);
    const row = await store.findByApiKey(this.#db, tenantId, this.#audience, key);
    const given = this.#keyMaker.hashSecret(typeof apiSecret === 'string' ? apiSecret : '');
    const isRight = timingSafeEqual(given, row?.secret_hash ?? Buffer.alloc(given.length));
    if (row === undefined || !isRight || !row.is_active) {
      throw apiError(
        'invalid_credentials',
        `${AUDIENCES[this.#audience].headers} must be those of an active credential.`,
        {
          'www-authenticate': 'ApiKey',
        },
      );
    }
    this.#lastUsed.touch(tenantId, row.id);
    return { tenantId, credentialId: row.id, features: row.features as Feature[], currency: row.currency };
  }

  async list(tenantId: number): Promise<Credential[]> {
    return (await store.listCredentials(this.#db, tenantId, this.#audience)).map(shape);
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

  /** Withdraws a credential for good; doing it again changes nothing (decision 15). */
  async revoke(actor: Actor, id: string): Promise<Credential> {
    const writeDown = prepareAudit(actor);
    return await this.#change(actor.tenantId, id, async (tx, row) => {
      if (!row.is_active) {
        return shape(row);
      }
      await writeDown(tx, { action: 'credential.revoked', subject: row.id, details: this.#detailsOf(row.label) });
      return shape(await store.updateCredential(tx, actor.tenantId, row.id, { is_active: false }));
    });
  }

  /** Gives the credential a new secret; the old one is refused from now on (decision 15). */
  async rotate(actor: Actor, id: string): Promise<CredentialSecret> {
    const secret = newSecret();
    const writeDown = prepareAudit(actor);
    return await this.#change(actor.tenantId, id, async (tx, row) => {
      if (!row.is_active) {
        throw apiError('invalid_status_transition', 'The credential is revoked. Create a new one.');
      }
      await writeDown(tx, { action: 'credential.rotated', subject: row.id, details: this.#detailsOf(row.label) });
      await store.updateCredential(tx, actor.tenantId, row.id, {
        secret_hash: this.#keyMaker.hashSecret(secret),
        last_rotated_at: new Date(),
      });
      return { id: row.id, label: row.label, api_key: row.api_key, api_secret: secret };
    });
  }

  /**
   * Registers the URL that events go to (contract §4, registration rules).
   * @returns the new secret, or an empty text where this URL was registered already and its secret stays
   */
  async registerWebhook({ tenantId, credentialId }: Caller, url: string): Promise<string> {
    const secret = newSecret();
    const writeDown = prepareAudit({ tenantId, type: 'credential', id: credentialId });
    const place = webhookSecretPlace(tenantId, credentialId);
    let wasStored = false;
    return await this.#change(tenantId, credentialId, async (tx, row) => {
      if (row.webhook_url === url) {
        // Ours where the answer to an earlier COMMIT was lost: it has to be told, for nobody else knows it. Its ciphertext does not
        // tell: a rotation of the keys may have made another one since.
        const isOurs =
          wasStored && row.webhook_secret && (await this.#keyring.decrypt(row.webhook_secret, place)) === secret;
        return isOurs ? secret : '';
      }
      const webhook_secret = await this.#keyring.encrypt(tx, secret, place);
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

  /** Writes down what is still only remembered of last uses, and stops doing so. */
  async close(): Promise<void> {
    await this.#lastUsed.close();
  }
}

/** What an encrypted webhook secret is bound to: it opens for no other tenant or credential. */
export function webhookSecretPlace(tenantId: number, credentialId: string): string {
  return `webhook secret of ${tenantId} ${credentialId}`;
}

/** The encrypted webhook secrets of all credentials, for the rotation of keys. */
export const webhookSecrets: SecretColumn = {
  async readBefore(db, tenantId, bytes, afterId, limit) {
    const rows = await store.readWebhookSecretsBefore(db, tenantId, bytes, afterId, limit);
    return rows.map(({ id, webhook_secret }) => ({
      id,
      place: webhookSecretPlace(tenantId, id),
      ciphertext: webhook_secret,
    }));
  },
  replace: (tx, tenantId, { id, ciphertext: from }, to) => store.replaceWebhookSecret(tx, tenantId, { id, from, to }),
};

function shape(row: store.CredentialRow): Credential {
  return {
    id: row.id,
    label: row.label,
    api_key: row.api_key,
    webhook_url: row.webhook_url,
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_rotated_at: row.last_rotated_at?.toISOString() ?? null,
  };
}
