import type { Database } from '#platform/db/database.ts';
import { updateLastUsed } from './store.ts';

/**
 * Milliseconds between two writes of the collected uses. `last_used_at` has to change within a minute after a use (decision 16), even if
 * one write fails.
 */
const FLUSH_EVERY_MS = 15_000;
/** Largest number of credentials that one UPDATE writes. */
const BATCH_SIZE = 1_000;

/**
 * Collects the time of the last use of each credential in memory, and writes all collected times to the database every 15 s instead of at
 * each request.
 */
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
      // The write failed, so the next flush must write these uses too. If a credential was used again since then, the later time of use is
      // kept.
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
        // The object of this credential is updated in place. A new object at each call would live until the next flush, so garbage
        // collections before the flush would have to copy it.
        use.atMs = Date.now();
      }
    },
    async close() {
      clearInterval(timer);
      await flush().catch(onError);
    },
  };
}
