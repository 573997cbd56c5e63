import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { updateLastUsed } from './store.ts';

export type { LastUsed } from '#platform/db/last-used.ts';

/**
 * Shortest time in milliseconds between two writes of `last_used_at` of one credential. So all processes together write it at most twice a
 * minute. Each process measures this time by its own clock. If one process has just written the time, a use that another process has in
 * memory waits for `REST_MS`, and then for the next background write of that process. `REST_MS` is short, because `last_used_at` must
 * change within a minute after a use (decision 16), even if one write fails.
 */
const REST_MS = 30_000;
/**
 * Age in milliseconds at which a process drops a use that it has not written. By then, another process has written a use of the same
 * credential that is later, or only a little earlier.
 */
const FORGET_AFTER_MS = 120_000;

/**
 * Collects the time of the last use of each credential in memory, and writes the collected times to the database. A use that comes less
 * than `REST_MS` after the last write of its credential stays in memory until a later write.
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
