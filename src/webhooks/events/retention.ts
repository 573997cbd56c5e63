import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Database, isCluster } from '#platform/db/database.ts';
import { isUnavailable } from '#platform/db/failures.ts';
import { listTenants } from '#access/tenants/tenants.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { poll } from '#platform/lib/poll.ts';
import { removeEvents } from './store.ts';

const DAY_MS = 86_400_000;
/** Maximum number of rows that one DELETE removes. It is small, so that the statement holds few locks. */
const BATCH_SIZE = 1_000;
/** Longest time in milliseconds from one pass to the next, and wait between two batches, in which the database is free for other work. */
const PACE = { everyMs: 3_600_000, restMs: 100 };

export type Retention = ReturnType<typeof startRetention>;

/** Removes old events in the background. Any number of processes may do so at the same time. `stop` waits for the current batch. */
export function startRetention(db: Database, log: Logger, retentionDays: number, { everyMs, restMs } = PACE) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pass = async () => {
    let removed = 0;
    try {
      for await (const count of removeOldEvents(db, new Date(Date.now() - retentionDays * DAY_MS))) {
        removed += count;
        if (count > 0) {
          await sleep(restMs, undefined, { signal }).catch(() => {});
        }
        if (signal.aborted) {
          break;
        }
      }
    } finally {
      if (removed > 0) {
        log.info({ removed, retention_days: retentionDays }, 'old events removed');
      }
    }
  };
  // The time is random, so that several processes do not remove events at the same time.
  const passes = poll(everyMs * (0.5 + Math.random() / 2), pass, (err) =>
    log.warn({ err }, 'old events could not be removed; the service tries again later'),
  );
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await passes.close();
    },
  };
}

/** Yields the number of removed events after each batch. */
export async function* removeOldEvents(db: Database, before: Date): AsyncGenerator<number> {
  const beforeId = firstIdAt(before.getTime());
  for (const { id: tenantId } of await listTenants(db)) {
    // Each batch begins where the previous one ended, so that the statement does not read pending events and removed rows again.
    let afterId = firstIdAt(0);
    let removed: string[] = [];
    do {
      try {
        removed = await removeEvents(db, tenantId, { afterId, beforeId }, BATCH_SIZE);
      } catch (error) {
        // If a node of a cluster is down, the next run removes the old events of its tenants.
        if (!isCluster(db) || !isUnavailable(error)) {
          throw error;
        }
        removed = [];
      }
      afterId = removed.sort().at(-1) ?? afterId;
      yield removed.length;
    } while (removed.length === BATCH_SIZE);
  }
}
