import type { Database } from '#platform/db/database.ts';
import { updateLastUsed } from './store.ts';

/** Decision 16: `last_used_at` moves within a minute of use. */
const FLUSH_EVERY_MS = 15_000;
/** Rows of one UPDATE. */
const BATCH_SIZE = 1_000;

/** Remembers when each credential was last used, and writes that down now and then: no write per request. */
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
      // The next flush writes them; what was used again meanwhile is newer.
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
        use.atMs = Date.now(); // A new one at each call would outlive the collections of young garbage.
      }
    },
    async close() {
      clearInterval(timer);
      await flush().catch(onError);
    },
  };
}
