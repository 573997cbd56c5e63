/** The last calls of each credential that were refused although their secret was right. */
import type { Database } from '#platform/db/database.ts';
import type { ApiError } from '#platform/errors.ts';
import { newId } from '#platform/lib/ids.ts';
import { poll } from '#platform/lib/poll.ts';
import { type Caller, readCredentialRow } from '../credentials/credentials.ts';
import type { RefusedCall } from './schema.ts';
import { KEPT_CALLS, type NewRefusedCall, readRefusedCalls, storeRefusedCalls } from './store.ts';
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
export function collectRefusals({ db, onError }: Dependencies) {
  /** Calls that are not stored yet, oldest first, by credential id. */
  const waiting = new Map<string, NewRefusedCall[]>();
  const forget = (stored: Set<string>) => {
    for (const [credentialId, calls] of waiting) {
      const rest = calls.filter(({ id }) => !stored.has(id));
      if (rest.length === 0) {
        waiting.delete(credentialId);
      } else {
        waiting.set(credentialId, rest);
      }
    }
  };
  const write = async () => {
    const collected = [...waiting.values()].flat();
    for (let start = 0; start < collected.length; start += BATCH_SIZE) {
      forget(await storeRefusedCalls(db, collected.slice(start, start + BATCH_SIZE)));
    }
  };
  const writes = poll(WRITE_EVERY_MS, write, onError);
  return {
    add({ tenantId, credentialId }: Caller, refusal: Refusal): void {
      const ofCredential = waiting.get(credentialId) ?? [];
      if (ofCredential.length === 0 && waiting.size >= MAX_CREDENTIALS) {
        return;
      }
      const path = refusal.path.replaceAll(/:(\w+)/g, '{$1}');
      const key = { tenant_id: tenantId, credential_id: credentialId, id: newId(), at: new Date().toISOString() };
      ofCredential.push({ ...refusal, ...key, path, message: storable(refusal.message) });
      waiting.set(credentialId, ofCredential.slice(-KEPT_CALLS));
    },
    async close(): Promise<void> {
      await writes.close();
      await write().catch(onError);
    },
  };
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
  const { id } = await readCredentialRow(db, tenantId, credentialId);
  return (await readRefusedCalls(db, tenantId, id)).map((call) => ({ ...call, at: call.at.toISOString() }));
}

/** Collects the refusals of calls that had a valid API key and secret. Ignores the refusals of all other calls. */
export function createRefusalHook({ db, log }: { db: Database; log: Logger }) {
  const refusals = collectRefusals({
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
