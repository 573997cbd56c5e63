import { coalesce } from '../lib/coalesce.ts';
import type { Db } from './database.ts';
import { type Share, sharesOf } from './inputs.ts';

const WRITE_EVERY_MS = 10_000;
const BATCH_SIZE = 1_000;

export interface LatestUse {
  tenantId: number;
  id: string;
  atMs: number;
}

/** Collects the time of the last use of each row in memory, and writes the times every 10 s instead of at each request. */
export type LastUsed = ReturnType<typeof collectLastUses>;

/** Writes uses at `nowMs`. Returns a function that tells which uses are done: written, or recent enough in the database. */
type WriteUses = (uses: LatestUse[], nowMs: number) => Promise<(use: LatestUse) => boolean>;

export function collectLastUses(writeUses: WriteUses, onError: (error: unknown) => void) {
  const uses = new Map<string, LatestUse>();
  const write = async () => {
    const nowMs = Date.now();
    const collected = [...uses.values()];
    for (let start = 0; start < collected.length; start += BATCH_SIZE) {
      const batch = collected.slice(start, start + BATCH_SIZE);
      const isDone = await writeUses(batch, nowMs);
      for (const use of batch) {
        // If the row was used again during the write, its new time has to be written too.
        if (isDone(use) && uses.get(use.id) === use) {
          uses.delete(use.id);
        }
      }
    }
  };
  const flush = coalesce(() => write().catch(onError));
  const timer = setInterval(() => void flush(), WRITE_EVERY_MS).unref();
  return {
    touch(tenantId: number, id: string): void {
      uses.set(id, { tenantId, id, atMs: Date.now() });
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Writes uses sorted by id, so that two statements cannot deadlock. Returns the ids of the rows that `update` has changed. */
export async function writeByShare(
  db: Db,
  uses: LatestUse[],
  update: (share: Share<LatestUse>) => Promise<string[]>,
): Promise<Set<string>> {
  const sorted = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const written = new Set<string>();
  for (const share of sharesOf(db, sorted, ({ tenantId }) => tenantId)) {
    (await update(share)).forEach((id) => written.add(id));
  }
  return written;
}
