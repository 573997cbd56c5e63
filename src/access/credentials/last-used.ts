import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { updateLastUsed } from './store.ts';

export type { LastUsed } from '#platform/db/last-used.ts';

/**
 * Shortest time in milliseconds between two writes of `last_used_at` of one credential by any processes. This is early enough, because
 * `last_used_at` must change within a minute after a use (rule 16).
 */
const REST_MS = 30_000;
/** Age in milliseconds at which a process drops a use that it has not written. */
const FORGET_AFTER_MS = 120_000;

export function createLastUsed(db: Database, onError: (error: unknown) => void): LastUsed {
  return collectLastUses(async (uses, nowMs) => {
    const written = await updateLastUsed(
      db,
      uses.map(({ tenantId, id, atMs }) => ({ tenantId, credentialId: id, at: new Date(atMs) })),
      { now: new Date(nowMs), writtenBefore: new Date(nowMs - REST_MS) },
    );
    return ({ id, atMs }) => written.has(id) || atMs <= nowMs - FORGET_AFTER_MS;
  }, onError);
}
