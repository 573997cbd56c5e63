import type { Database } from '../db/database.ts';
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
  let uses = new Map<string, { tenantId: number; credentialId: string; at: Date }>();
  const flush = async () => {
    const taken = uses;
    uses = new Map();
    try {
      const rows = [...taken.values()];
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
    touch: (tenantId, credentialId) => uses.set(credentialId, { tenantId, credentialId, at: new Date() }),
    async close() {
      clearInterval(timer);
      await flush().catch(onError);
    },
  };
}
