import type { Database } from '#platform/db/database.ts';
import { updateLastUsed } from './store.ts';

/**
 * Milliseconds between two writes of the collected uses. `last_used_at` has to change within a minute after a use (decision 16), even if
 * one write fails. If another process has just written the row, a use waits for `REST_MS` and then for the next write.
 */
const FLUSH_EVERY_MS = 10_000;
/**
 * Milliseconds that must pass between two writes of one credential, by any processes. So all processes together write it at most twice a
 * minute. The clocks of the processes measure this time.
 */
const REST_MS = 30_000;
/**
 * Age in milliseconds at which a use is forgotten if it was not written. By then another process has written a later use, or the use is
 * one of several uses shortly before a pause, of which the last ones came to different processes.
 */
const FORGET_AFTER_MS = 120_000;
/** Largest number of credentials that one UPDATE writes. */
const BATCH_SIZE = 1_000;

/**
 * Collects the time of the last use of each credential in memory, and writes the collected times to the database every 10 s instead of at
 * each request. A use that comes too early after the last write of its credential stays in memory until a later write.
 */
export interface LastUsed {
  touch(tenantId: number, credentialId: string): void;
  close(): Promise<void>;
}

export function createLastUsed(db: Database, onError: (error: unknown) => void): LastUsed {
  const uses = new Map<string, { tenantId: number; credentialId: string; atMs: number }>();
  const write = async () => {
    const nowMs = Date.now();
    const collected = Array.from(uses.values(), ({ atMs, ...use }) => ({ ...use, at: new Date(atMs) }));
    for (let start = 0; start < collected.length; start += BATCH_SIZE) {
      const batch = collected.slice(start, start + BATCH_SIZE);
      const written = await updateLastUsed(db, batch, {
        now: new Date(nowMs),
        writtenBefore: new Date(nowMs - REST_MS),
      });
      for (const { credentialId, at } of batch) {
        const isDone = written.has(credentialId) || at.getTime() <= nowMs - FORGET_AFTER_MS;
        // If the credential was used again during the write, its new time has to be written too.
        if (isDone && uses.get(credentialId)?.atMs === at.getTime()) {
          uses.delete(credentialId);
        }
      }
    }
  };
  let underWay: Promise<void> | undefined;
  /** Starts a write, unless the previous write is still under way. Two writes at the same time would write the same uses. */
  const flush = () =>
    (underWay ??= write()
      .catch(onError)
      .finally(() => (underWay = undefined)));
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS).unref();
  return {
    touch(tenantId, credentialId) {
      const use = uses.get(credentialId);
      if (use === undefined) {
        uses.set(credentialId, { tenantId, credentialId, atMs: Date.now() });
      } else {
        // The object of this credential is updated in place. A new object at each call would live until the next flush, so garbage
        // collections before the flush would have to copy it.
        use.atMs = Date.now();
      }
    },
    async close() {
      clearInterval(timer);
      await underWay;
      await flush();
    },
  };
}
