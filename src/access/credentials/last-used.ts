import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { updateLastUsed } from './store.ts';

export type { LastUsed } from '#platform/db/last-used.ts';

/**
 * Shortest time in milliseconds between two writes of `last_used_at` of one credential by any processes. So the row is written at most
 * twice a minute. If a process has a new use during this time, the use waits in memory until a later background write. These writes come
 * every 10 s, so a use is written after at most 40 s, or after 50 s if one write fails. This is early enough, because `last_used_at` must
 * change within a minute after a use (decision 16). Each process stores the time of its write by its own clock. So if the clocks of two
 * processes differ, the shortest time between their writes may differ from this value.
 */
const REST_MS = 30_000;
/**
 * Age in milliseconds at which a process drops a use that it has not written. Until then, the process tries to write the use every 10 s.
 * The last try does not write the use for one of two reasons:
 * - The row already has a later use of the credential.
 * - Another process has written the row less than 30 s ago (`REST_MS`). At that write, the written use was normally at most 50 s old. So
 *   the written use is now at most 80 s old, but the dropped use is 120 s old.
 * In both cases, the row has a later use, so the dropped use is not needed.
 */
const FORGET_AFTER_MS = 120_000;

/**
 * Returns a collector that keeps the time of the last use of each credential in memory and writes these times to the database every 10 s. A
 * use that comes less than `REST_MS` after the last write of its credential stays in memory until a later write.
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
