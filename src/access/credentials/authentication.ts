import { hash, timingSafeEqual } from 'node:crypto';
import type { Caches, TenantCache } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { apiError } from '#platform/errors.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import type { Feature } from '../tenants/tenants.ts';
import { createKeyMaker, type KeyMaker } from './api-key.ts';
import { AUDIENCES, type Audience } from './audiences.ts';
import { createLastUsed, type LastUsed } from './last-used.ts';
import * as store from './store.ts';

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
  audience: Audience;
  caches: Caches;
  /** Told when a background write of last use failed. */
  onError: (error: unknown) => void;
}

/** An active credential, and what its secret is recognised by. */
interface KnownCaller {
  caller: Caller;
  fingerprint: string;
}

/** A few hundred bytes each. */
const MAX_CACHED = 50_000;

/** Tells who calls one of the two APIs, by the credential that every call carries. */
export class Authentication {
  readonly #db: Database;
  readonly #audience: Audience;
  readonly #keyMaker: KeyMaker;
  readonly #callers: TenantCache<KnownCaller>;
  readonly #lastUsed: LastUsed;

  constructor({ db, keyring, audience, caches, onError }: Dependencies) {
    this.#db = db;
    this.#audience = audience;
    this.#keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[audience].prefix);
    this.#callers = caches.createCache(MAX_CACHED);
    this.#lastUsed = createLastUsed(db, onError);
  }

  /**
   * Whoever shows the right secret of a credential that is remembered is let in. For all others the database is asked, so an
   * unknown key and a wrong secret cost the same, and a new secret holds at once. Secrets are 256 random bits: in memory a plain
   * hash of one is enough to know it by, at a tenth of the cost of the keyed one that is stored.
   * @throws ApiError 401 `invalid_credentials` for a missing, unknown or inactive key and for a wrong secret, with the same answer
   */
  async authenticate(apiKey: unknown, apiSecret: unknown): Promise<Caller> {
    const key = typeof apiKey === 'string' ? apiKey : '';
    const secret = typeof apiSecret === 'string' ? apiSecret : '';
    const fingerprint = hash('sha256', secret, 'base64');
    const remembered = this.#callers.get(key);
    const isKnown = remembered !== undefined && isEqual(fingerprint, remembered.fingerprint);
    const caller = isKnown ? remembered.caller : await this.#look(key, secret, fingerprint);
    this.#lastUsed.touch(caller.tenantId, caller.credentialId);
    return caller;
  }

  /** Asks the database; the work is the same whether there is such a credential or not. */
  async #look(key: string, secret: string, fingerprint: string): Promise<Caller> {
    const tenantId = this.#keyMaker.tenantOfApiKey(key);
    const given = this.#keyMaker.hashSecret(secret);
    const known = await this.#callers.load(tenantId, key, async () => {
      const row = await store.findByApiKey(this.#db, tenantId, this.#audience, key);
      const isRight = timingSafeEqual(given, row?.secret_hash ?? Buffer.alloc(given.length));
      if (row === undefined || !isRight || !row.is_active) {
        return undefined;
      }
      const { id: credentialId, currency } = row;
      return { caller: { tenantId, credentialId, features: row.features as Feature[], currency }, fingerprint };
    });
    if (known === undefined) {
      const message = `${AUDIENCES[this.#audience].headers} must be those of an active credential.`;
      throw apiError('invalid_credentials', message, { 'www-authenticate': 'ApiKey' });
    }
    return known.caller;
  }

  /** Writes down what is still only remembered of last uses, and stops doing so. */
  async close(): Promise<void> {
    await this.#lastUsed.close();
  }
}

/** Compares in constant time. The hashes are texts, because a hash that gives bytes takes memory beside the heap at each call. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
