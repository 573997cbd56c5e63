import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { updateLastUsed } from './store.ts';

export type { LastUsed } from '#platform/db/last-used.ts';

/** Shortest time between two writes of a credential by any processes. Together with the writes each 10 s, it keeps the minute of rule 16. */
const REST_MS = 30_000;
/** Age in milliseconds at which a process drops a use that it has not written. */
const FORGET_AFTER_MS = 120_000;

export function createLastUsed(db: Database, onError: (error: unknown) => void): LastUsed {
  return collectLastUses(async (uses, nowMs) => {
    const rest = { now: new Date(nowMs), writtenBefore: new Date(nowMs - REST_MS) };
    const written = await updateLastUsed(db, uses, rest);
    return ({ id, atMs }) => written.has(id) || atMs <= nowMs - FORGET_AFTER_MS;
  }, onError);
}
