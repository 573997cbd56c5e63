import type { Db } from './database.ts';
import { type Share, sharesOf } from './inputs.ts';

const FLUSH_EVERY_MS = 10_000;
const BATCH_SIZE = 1_000;

/** Time of the last use of a row, as one process knows it. `atMs` is a time of `Date.now()`. */
export interface LatestUse {
  tenantId: number;
  id: string;
  atMs: number;
}

/** Collects the time of the last use of each row in memory, and writes the times every 10 s instead of at each request. */
export interface LastUsed {
  touch(tenantId: number, id: string): void;
  /** Writes the uses that are still in memory, and stops the background writes. */
  close(): Promise<void>;
}

/**
 * Writes the last uses of at most `BATCH_SIZE` rows to the database. `nowMs` is the time at which the write began. Returns a function that
 * tells which uses are done, because they were written, or because the row has a time that is recent enough. Each other use stays in memory
 * until a later write.
 */
export type WriteUses = (uses: LatestUse[], nowMs: number) => Promise<(use: LatestUse) => boolean>;

export function collectLastUses(writeUses: WriteUses, onError: (error: unknown) => void): LastUsed {
  const uses = new Map<string, LatestUse>();
  const write = async () => {
    const nowMs = Date.now();
    const collected = Array.from(uses.values(), (use) => ({ ...use }));
    for (let start = 0; start < collected.length; start += BATCH_SIZE) {
      const batch = collected.slice(start, start + BATCH_SIZE);
      const isDone = await writeUses(batch, nowMs);
      for (const use of batch) {
        // If the row was used again during the write, its new time has to be written too.
        if (isDone(use) && uses.get(use.id)?.atMs === use.atMs) {
          uses.delete(use.id);
        }
      }
    }
  };
  let underWay: Promise<void> | undefined;
  const flush = () =>
    (underWay ??= write()
      .catch(onError)
      .finally(() => (underWay = undefined)));
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS).unref();
  return {
    touch(tenantId, id) {
      const use = uses.get(id);
      if (use === undefined) {
        uses.set(id, { tenantId, id, atMs: Date.now() });
      } else {
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

/**
 * Writes the last uses of rows of any tenants. On one node, one statement writes the uses of all tenants. On a cluster, each tenant has a
 * statement of its own. The uses are sorted by id, so that two concurrent statements lock their rows in the same order and cannot deadlock.
 * @param update writes the rows of one statement, and returns the ids of the rows that it changed
 * @returns the ids of all rows that were changed
 */
export async function writeByShare<Use extends { tenantId: number }>(
  db: Db,
  uses: Use[],
  idOf: (use: Use) => string,
  update: (share: Share<Use>) => Promise<string[]>,
): Promise<Set<string>> {
  const sorted = uses.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const written = new Set<string>();
  for (const share of sharesOf(db, sorted, ({ tenantId }) => tenantId)) {
    (await update(share)).forEach((id) => written.add(id));
  }
  return written;
}
