import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '#platform/db/database.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { readTenantIds, removeEvents } from './retention-store.ts';

const DAY_MS = 86_400_000;
/** Rows of one DELETE: locks and log stay small. */
const BATCH_SIZE = 1_000;
const TENANTS_AT_A_TIME = 1_000;

/** Waits, each drawn between the half and the whole, so that several processes do not march in step. */
const PACE = {
  /** Soon, for processes that are replaced every hour. */
  firstAfterMs: 5_000,
  everyMs: 3_600_000,
  /** Between two batches, so that deliveries and requests come through. */
  restMs: 100,
};

export interface RetentionOptions {
  db: Database;
  log: Logger;
  retentionDays: number;
  pace?: Partial<typeof PACE>;
}

/**
 * Removes events that are older than the retention, and with them their ended deliveries. Any number may run side by
 * side.
 */
export interface Retention {
  /** Ends after the batch under way. */
  stop(): Promise<void>;
}

export function startRetention(options: RetentionOptions): Retention {
  const stopping = new AbortController();
  const running = run(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function run(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { firstAfterMs, everyMs, restMs } = { ...PACE, ...options.pace };
  await rest(firstAfterMs, signal);
  while (!signal.aborted) {
    await pass(options, restMs, signal);
    await rest(everyMs, signal);
  }
}

/** Once through all tenants. It never throws: what is left when the database goes away is the next pass's. */
async function pass({ db, log, retentionDays }: RetentionOptions, restMs: number, signal: AbortSignal): Promise<void> {
  let removed = 0;
  try {
    for await (const count of removeOldEvents(db, new Date(Date.now() - retentionDays * DAY_MS))) {
      removed += count;
      if (count > 0) {
        await rest(restMs, signal);
      }
      if (signal.aborted) {
        break;
      }
    }
  } catch (error) {
    log.warn({ err: error }, 'old events cannot be removed for now');
  }
  if (removed > 0) {
    log.info({ removed, retention_days: retentionDays }, 'old events removed');
  }
}

/**
 * Removes what happened before the moment and has no delivery pending, of one tenant after the other, batch by batch.
 */
export async function* removeOldEvents(db: Database, before: Date): AsyncGenerator<number> {
  const beforeId = firstIdAt(before.getTime());
  for await (const tenantId of tenantIds(db)) {
    let removed: string[];
    // From where the last batch ended: what is pending, or removed and not yet vacuumed, is not walked over again.
    let afterId = firstIdAt(0);
    do {
      removed = await removeEvents(db, tenantId, { afterId, beforeId }, BATCH_SIZE);
      afterId = removed.sort().at(-1) ?? afterId;
      yield removed.length;
    } while (removed.length === BATCH_SIZE);
  }
}

async function* tenantIds(db: Database): AsyncGenerator<number> {
  let page: number[];
  let lastId = 0;
  do {
    page = await readTenantIds(db, lastId, TENANTS_AT_A_TIME);
    lastId = page.at(-1) ?? lastId;
    yield* page;
  } while (page.length === TENANTS_AT_A_TIME);
}

/** Ends early, and without an error, when the process stops. */
async function rest(upToMs: number, signal: AbortSignal): Promise<void> {
  await sleep(upToMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
}
