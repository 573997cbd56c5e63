import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { updateLastUsed } from './store.ts';

export type { LastUsed } from '#platform/db/last-used.ts';

/**
 * Milliseconds that must pass between two writes of one credential, by any processes. So all processes together write it at most twice a
 * minute. The clocks of the processes measure this time. `last_used_at` has to change within a minute after a use (decision 16), even if one
 * write fails. If another process has just written the row, a use waits for `REST_MS` and then for the next write.
 */
const REST_MS = 30_000;
/**
 * Age in milliseconds at which a use is forgotten if it was not written. By then another process has written a later use, or the use is
 * one of several uses shortly before a pause, of which the last ones came to different processes.
 */
const FORGET_AFTER_MS = 120_000;

/**
 * Collects the time of the last use of each credential in memory, and writes the collected times to the database. A use that comes too early
 * after the last write of its credential stays in memory until a later write.
 */
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
