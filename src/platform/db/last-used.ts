import type { Db } from './database.ts';
import { type Share, sharesOf } from './inputs.ts';

/** Interval in milliseconds at which the collected times are written to the database. */
const FLUSH_EVERY_MS = 10_000;
/** Largest number of rows that one UPDATE writes. */
const BATCH_SIZE = 1_000;

/** Time of the last use of a row, as one process knows it. `atMs` is a time of `Date.now()`. */
export interface LatestUse {
  tenantId: number;
  id: string;
  atMs: number;
}

/**
 * Collects the time of the last use of each row in memory, and writes the collected times to the database every 10 s instead of at each
 * request.
 */
export interface LastUsed {
  touch(tenantId: number, id: string): void;
  /** Writes the uses that are still in memory, and stops the background writes. */
  close(): Promise<void>;
}

/**
 * Writes the last uses of at most `BATCH_SIZE` rows to the database. `nowMs` is the time at which the write began. Returns a function that
 * tells which uses the process may remove from memory. Every other use stays in memory until a later write. A use may be removed in these
 * cases:
 * - The use was written.
 * - The row already has a later use.
 * - The use in the row is less than a minute older, and the caller needs no more exact time.
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
  /** Starts a write, unless the previous write is still under way. Two writes at the same time would write the same uses. */
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
        // The object of this row is updated in place. A new object at each call would live until the next flush, so garbage collections
        // before the flush would have to copy it.
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
 * @throws the error of the first statement if every statement fails
 */
export async function writeByShare<Use extends { tenantId: number }>(
  db: Db,
  uses: Use[],
  idOf: (use: Use) => string,
  update: (share: Share<Use>) => Promise<string[]>,
): Promise<Set<string>> {
  const sorted = uses.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const shares = sharesOf(db, sorted, ({ tenantId }) => tenantId);
  const written = new Set<string>();
  const failures: unknown[] = [];
  for (const share of shares) {
    try {
      const ids = await update(share);
      ids.forEach((id) => written.add(id));
    } catch (error) {
      failures.push(error); // On a cluster, a node that is down must not stop the writes for the tenants of other nodes.
    }
  }
  if (failures.length === shares.length && failures.length > 0) {
    throw failures[0];
  }
  return written;
}
