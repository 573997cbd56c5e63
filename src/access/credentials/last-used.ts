import type { Database } from '#platform/db/database.ts';
import { updateLastUsed } from './store.ts';

/** Milliseconds between two writes, so that `last_used_at` is updated within a minute of use (decision 16). */
const FLUSH_EVERY_MS = 15_000;
/** Number of rows in one UPDATE. */
const BATCH_SIZE = 1_000;

/** Collects the time of the last use of each credential in memory, and writes all of them every 15 s instead of at each request. */
export interface LastUsed {
  touch(tenantId: number, credentialId: string): void;
  close(): Promise<void>;
}

export function createLastUsed(db: Database, onError: (error: unknown) => void): LastUsed {
  let uses = new Map<string, { tenantId: number; credentialId: string; atMs: number }>();
  const flush = async () => {
    const taken = uses;
    uses = new Map();
    try {
      const rows = Array.from(taken.values(), ({ atMs, ...use }) => ({ ...use, at: new Date(atMs) }));
      for (let start = 0; start < rows.length; start += BATCH_SIZE) {
        await updateLastUsed(db, rows.slice(start, start + BATCH_SIZE));
      }
    } catch (error) {
      // The next flush writes these uses. A later use of the same credential replaces its earlier one.
      uses = new Map([...taken, ...uses]);
      throw error;
    }
  };
  const timer = setInterval(() => void flush().catch(onError), FLUSH_EVERY_MS).unref();
  return {
    touch(tenantId, credentialId) {
      const use = uses.get(credentialId);
      if (use === undefined) {
        uses.set(credentialId, { tenantId, credentialId, atMs: Date.now() });
      } else {
        // The object is changed in place, because a new object at each call would survive the collections of young garbage.
        use.atMs = Date.now();
      }
    },
    async close() {
      clearInterval(timer);
      await flush().catch(onError);
    },
  };
}
