/** The last calls of each credential that were refused although their secret was right. */
import type { Database } from '#platform/db/database.ts';
import { type ApiError, orNotFound } from '#platform/errors.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import type { Caller } from '../credentials/credentials.ts';
import type { RefusedCall } from './schema.ts';
import { KEPT_CALLS, type NewRefusedCall, readRefusedCalls, type RefusedCallRow, storeRefusedCalls } from './store.ts';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

const WRITE_EVERY_MS = 5_000;
const BATCH_SIZE = 1_000;
/** When this number is reached, the refused calls of further credentials are dropped and never stored. */
const MAX_CREDENTIALS = 1_000;
/** A message names every fault of a body, so without this limit it might be longer than the body itself. */
const MAX_MESSAGE = 500;

/** Response that refused a call. `path` is the pattern of the route in the notation of Fastify, for example `/orders/:id/`. */
export type Refusal = Pick<NewRefusedCall, 'method' | 'path' | 'status' | 'code' | 'message' | 'request_id'>;

interface Dependencies {
  db: Database;
  /** Called if a background write of refused calls fails. These calls stay in memory until the next write. */
  onError: (error: unknown) => void;
}

/**
 * Collects the refused calls of authenticated partners and PMS in memory, and writes them to the database every 5 s instead of at each
 * call. A killed process loses the calls since its last write.
 */
export class Refusals {
  readonly #db: Database;
  readonly #onError: (error: unknown) => void;
  readonly #writes: Poll;
  /** Calls that are not stored yet, oldest first, by credential id. */
  readonly #waiting = new Map<string, NewRefusedCall[]>();

  constructor({ db, onError }: Dependencies) {
    this.#db = db;
    this.#onError = onError;
    this.#writes = poll(WRITE_EVERY_MS, () => this.#write(), onError);
  }

  add({ tenantId, credentialId }: Caller, refusal: Refusal): void {
    const ofCredential = this.#waiting.get(credentialId) ?? [];
    if (ofCredential.length === 0 && this.#waiting.size >= MAX_CREDENTIALS) {
      return;
    }
    this.#waiting.set(credentialId, ofCredential);
    ofCredential.push({
      ...refusal,
      tenant_id: tenantId,
      credential_id: credentialId,
      id: newId(),
      at: new Date().toISOString(),
      path: refusal.path.replaceAll(/:(\w+)/g, '{$1}'),
      message: storable(refusal.message),
    });
    if (ofCredential.length > KEPT_CALLS) {
      ofCredential.shift();
    }
  }

  async close(): Promise<void> {
    await this.#writes.close();
    await this.#write().catch(this.#onError);
  }

  async #write(): Promise<void> {
    const collected = [...this.#waiting.values()].flat();
    for (let start = 0; start < collected.length; start += BATCH_SIZE) {
      const stored = await storeRefusedCalls(this.#db, collected.slice(start, start + BATCH_SIZE));
      this.#forget(stored);
    }
  }

  #forget(stored: Set<string>): void {
    for (const [credentialId, calls] of this.#waiting) {
      const rest = calls.filter(({ id }) => !stored.has(id));
      if (rest.length === 0) {
        this.#waiting.delete(credentialId);
      } else {
        this.#waiting.set(credentialId, rest);
      }
    }
  }
}

/**
 * Returns a message as it is stored: shortened, without secrets, and without U+0000 and lone surrogates, which PostgreSQL cannot store. A
 * message may quote the request, so it may contain a secret that the caller has put into the wrong field. All secrets of the service begin
 * with `rss_`, so each word with this beginning becomes `rss_…`.
 */
function storable(message: string): string {
  const text = message
    .replaceAll(/rss_[\w-]+/g, 'rss_…')
    .replaceAll('\0', '\ufffd')
    .toWellFormed();
  const characters = Array.from(text.slice(0, 2 * MAX_MESSAGE + 2));
  return characters.length > MAX_MESSAGE ? `${characters.slice(0, MAX_MESSAGE - 1).join('')}…` : text;
}

export async function listRefusedCalls(db: Database, tenantId: number, credentialId: string): Promise<RefusedCall[]> {
  const rows = orNotFound(
    isUuid(credentialId) ? await readRefusedCalls(db, tenantId, credentialId) : null,
    'credential',
  );
  return rows.map(shape);
}

function shape({ id, at, method, path, status, code, message, request_id }: RefusedCallRow): RefusedCall {
  return { id, at: at.toISOString(), method, path, status, code, message, request_id };
}

/** Collects the refusals of calls that had a valid API key and secret. Ignores the refusals of all other calls. */
export function createRefusalHook({ db, log }: { db: Database; log: Logger }) {
  const refusals = new Refusals({
    db,
    onError(error) {
      log.warn(
        { err: error },
        'refused calls could not be written to the database; the service keeps them in memory and tries again',
      );
    },
  });
  return {
    onRefused: (request: FastifyRequest, { statusCode, code, message }: ApiError) => {
      // The guard of partners and PMS sets `caller` after it has checked the secret, and before it counts the call. So a call that was
      // refused before the check of the secret has no `caller`, although the type of the request declares the field as always present.
      const { caller } = request as { caller?: Caller };
      if (caller !== undefined) {
        const { method, id, routeOptions } = request;
        const path = routeOptions.url ?? '';
        refusals.add(caller, { method, path, status: statusCode, code, message, request_id: id });
      }
    },
    close: () => refusals.close(),
  };
}
