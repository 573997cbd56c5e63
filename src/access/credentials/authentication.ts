import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caches, TenantCache } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { apiError, PERMISSION_DENIED, permissionDenied } from '#platform/errors.ts';
import type { Guard, GuardFacts } from '#platform/http/guard.ts';
import { type Budget, countCall } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import type { Feature } from '../tenants/tenants.ts';
import { AUDIENCES, type Audience, createKeyMaker, type KeyMaker } from './api-key.ts';
import * as store from './store.ts';

export interface Caller {
  tenantId: number;
  credentialId: string;
  features: Feature[];
  currency: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The guard of each third-party and PMS route sets this field. */
    caller: Caller;
  }
}

interface Dependencies {
  db: Database;
  keyring: Keyring;
  audience: Audience;
  caches: Caches;
  /** Called if a background write of `last_used_at` fails. */
  onError: (error: unknown) => void;
}

/** Runs a look-up in the database for a caller who is not known yet. It may have to wait. */
type LookUp = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Cached caller, with those of its secrets that the database has accepted: the present secret, the previous secret, or both. */
interface KnownCaller {
  caller: Caller;
  secrets: KnownSecret[];
}

interface KnownSecret {
  fingerprint: string;
  /** Time of `performance.now()` at which the cache stops accepting the secret. `Infinity` for the present secret. */
  endsAtMs: number;
}

const MAX_SECRETS = 2;

/** Each takes a few hundred bytes. */
const MAX_CACHED = 50_000;

/** Shortest time between two writes of a credential by any processes. Together with the writes each 10 s, it keeps the minute of rule 16. */
const REST_MS = 30_000;
/** Age in milliseconds at which a process drops a use that it has not written. */
const FORGET_AFTER_MS = 120_000;

export class Authentication {
  readonly audience: Audience;
  readonly #db: Database;
  readonly #keyMaker: KeyMaker;
  readonly #callers: TenantCache<KnownCaller>;
  readonly #lastUsed: LastUsed;

  constructor({ db, keyring, audience, caches, onError }: Dependencies) {
    this.#db = db;
    this.audience = audience;
    this.#keyMaker = createKeyMaker(keyring.pepper, AUDIENCES[audience].prefix);
    this.#callers = caches.createCache(MAX_CACHED);
    this.#lastUsed = createLastUsed(db, onError);
  }

  /**
   * Returns the caller with this key and secret. The cache stores a SHA-256 hash of the secret and not the keyed hash that the database
   * stores, because the keyed hash takes ten times as long. SHA-256 is safe here, because a secret has 256 random bits.
   * @throws ApiError 401 `invalid_credentials` for a missing, unknown or inactive key or a wrong secret, always the same error
   */
  async authenticate(apiKey: unknown, apiSecret: unknown, lookUp: LookUp = (work) => work()): Promise<Caller> {
    const key = typeof apiKey === 'string' ? apiKey : '';
    const secret = typeof apiSecret === 'string' ? apiSecret : '';
    const fingerprint = hash('sha256', secret, 'base64');
    const cached = this.#callers.get(key);
    const isKnown = cached?.secrets.some(
      (known) => isEqual(fingerprint, known.fingerprint) && performance.now() < known.endsAtMs,
    );
    const caller = cached && isKnown ? cached.caller : await lookUp(() => this.#find(key, secret, fingerprint));
    this.noteUse(caller);
    return caller;
  }

  /** Records a use of a credential by a caller who has not authenticated over HTTP. */
  noteUse({ tenantId, credentialId }: Caller): void {
    this.#lastUsed.touch(tenantId, credentialId);
  }

  /** Does the same work for an unknown key as for a known one, so that the response time does not show if a key exists. */
  async #find(key: string, secret: string, fingerprint: string): Promise<Caller> {
    const tenantId = this.#keyMaker.tenantOfApiKey(key);
    const given = this.#keyMaker.hashSecret(secret);
    const known = await this.#callers.load(tenantId, key, async () => {
      const askedAtMs = performance.now();
      const row = await store.findByApiKey(this.#db, tenantId, this.audience, key);
      const endsAtMs = endOf(given, row, askedAtMs);
      if (row === undefined || endsAtMs === null || !row.is_active) {
        return undefined;
      }
      const { id: credentialId, currency } = row;
      const caller = { tenantId, credentialId, features: row.features as Feature[], currency };
      // During the overlap after a rotation, some servers of a partner send the new secret, and others send the old secret. Both secrets
      // stay cached, so that these calls need no query.
      const others = this.#callers.get(key)?.secrets.filter((other) => other.fingerprint !== fingerprint) ?? [];
      return { caller, secrets: [{ fingerprint, endsAtMs }, ...others].slice(0, MAX_SECRETS) };
    });
    if (known === undefined) {
      const message = `${AUDIENCES[this.audience].headers} must be those of an active credential.`;
      throw apiError('invalid_credentials', message, { 'www-authenticate': 'ApiKey' });
    }
    return known.caller;
  }

  async close(): Promise<void> {
    await this.#lastUsed.close();
  }
}

/**
 * The guard checks in this order (rule 1): the credential (401), the budget of calls (429), and, if `feature` is given, that the tenant
 * has this feature (403). No route of the PMS API asks for a feature (rule 17).
 */
export function callerGuard(authentication: Authentication, budget: Budget, feature?: Feature): Guard {
  const { keyHeader, secretHeader, security } = AUDIENCES[authentication.audience];
  const guard = async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers, server } = request;
    const caller = await authentication.authenticate(headers[keyHeader], headers[secretHeader], (work) =>
      server.door.lookUp(request, work),
    );
    request.caller = caller;
    request.holder = String(caller.tenantId);
    await countCall(budget, caller.credentialId, reply);
    if (feature !== undefined && !caller.features.includes(feature)) {
      throw permissionDenied();
    }
  };
  return Object.assign(guard, {
    security,
    errors: ['invalid_credentials', 'rate_limited', ...(feature === undefined ? [] : [PERMISSION_DENIED])],
  } satisfies GuardFacts);
}

/**
 * Returns when the cache stops accepting the given secret, or null for a wrong one. The database says how long the previous secret still
 * works, because the clocks of processes differ. Counted from the start of the query, this ends a little early, and then the database decides.
 */
function endOf(given: Buffer, row: store.CallerRow | undefined, askedAtMs: number): number | null {
  const noSecret = Buffer.alloc(given.length);
  const msLeft = row?.previous_ms_left ?? 0;
  const isPresent = timingSafeEqual(given, row?.secret_hash ?? noSecret);
  const isPrevious = timingSafeEqual(given, row?.previous_secret_hash ?? noSecret);
  if (isPresent) {
    return Number.POSITIVE_INFINITY;
  }
  return isPrevious && msLeft > 0 ? askedAtMs + msLeft : null;
}

/** The hashes are texts, because computing a hash as a buffer would be slow. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Collects the last uses of credentials, and writes them in the background. */
export function createLastUsed(db: Database, onError: (error: unknown) => void): LastUsed {
  return collectLastUses(async (uses, nowMs) => {
    const rest = { now: new Date(nowMs), writtenBefore: new Date(nowMs - REST_MS) };
    const written = await store.updateLastUsed(db, uses, rest);
    return ({ id, atMs }) => written.has(id) || atMs <= nowMs - FORGET_AFTER_MS;
  }, onError);
}
