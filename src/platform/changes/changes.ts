/** The list of tenants that changed recently, and the tenant cache, which each process keeps under a lease. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DatabaseContact } from '../db/contact.ts';
import type { Database, Tx } from '../db/database.ts';
import { coalesce } from '../lib/coalesce.ts';
import { newId } from '../lib/ids.ts';
import { type Poll, poll } from '../lib/poll.ts';
import { type Lease, TenantCache } from './tenant-cache.ts';
import * as store from './store.ts';

export type { TenantCache } from './tenant-cache.ts';

export type Caches = Pick<RecentChanges, 'createCache'>;

export const NO_CACHES: Caches = {
  createCache: () => new TenantCache(0, { endsAtMs: Number.NEGATIVE_INFINITY }),
};

export const POLL_EVERY_MS = 200;
/** A process may use its caches for this time after the start of the last successful poll. */
const LEASE_MS = 500;
/** Time in milliseconds that `waitForLeasesToEnd` adds to the lease, because the timers of two machines may run at different speeds. */
const LEASE_MARGIN_MS = 25;
/** After a longer time, all cached data is invalidated, because changes may be removed already (`REMOVE_AFTER_SECONDS`). */
const MAX_GAP_MS = 30_000;
const REMOVE_AFTER_SECONDS = 600;
const REMOVE_EVERY_MS = 60_000;
/** Ids of changes that a process keeps to recognize what it has read. Without them, some data is invalidated twice. */
const MAX_SEEN = 10_000;

/** Records in the transaction that data has changed. From `LEASE_MS` after the commit, no process uses older data. */
export async function announceChange(tx: Tx, tenantId: number): Promise<void> {
  await store.insertChange(tx, tenantId, newId());
}

/** Waits until no cache returns data from before a change that was committed before the call. */
export async function waitForLeasesToEnd(): Promise<void> {
  await sleep(LEASE_MS + LEASE_MARGIN_MS);
}

/** Each poll of the recent changes renews the lease of the caches. Without a lease all reads go to the database. */
export class RecentChanges {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #contact: DatabaseContact | undefined;
  readonly #caches: TenantCache<unknown>[] = [];
  #regular: Poll | undefined;
  #seen = new Set<string>();
  /** Oldest transaction that was running at the last poll. The next poll reads its changes and all later ones. Null before the first. */
  #oldestRunning: string | null = null;
  #polledAtMs = Number.NEGATIVE_INFINITY;
  readonly #lease: Lease = { endsAtMs: Number.NEGATIVE_INFINITY };
  #removedAtMs = performance.now();
  #isFailing = false;

  constructor(db: Database, log: Logger, contact?: DatabaseContact) {
    this.#db = db;
    this.#log = log;
    this.#contact = contact;
  }

  /** Starts the polls. The caches return no data before the first poll has succeeded. */
  start(): void {
    this.#regular = poll(POLL_EVERY_MS, this.catchUp, (error) => this.#note(error));
  }

  /** Makes a cache. If it has more than `maxEntries`, the tenant that it has held longest is dropped. */
  createCache<Value>(maxEntries: number): TenantCache<Value> {
    const cache = new TenantCache<Value>(maxEntries, this.#lease);
    this.#caches.push(cache);
    return cache;
  }

  /** Waits for a poll that begins after this call. If it fails, the caches return no data until a poll succeeds. */
  readonly catchUp = coalesce(async () => {
    try {
      await this.#poll();
      this.#isFailing = false;
    } catch (error) {
      this.#note(error);
    }
  });

  async close(): Promise<void> {
    await this.#regular?.close();
  }

  /**
   * On one node, a poll reads the changes of the oldest transaction that was running at the last poll, and of all later ones. After the end
   * of the lease it reads all changes, because after a failover transactions may have lower numbers.
   */
  async #poll(): Promise<void> {
    const beganAtMs = performance.now();
    const sinceMs = beganAtMs - this.#polledAtMs;
    const readsAll = sinceMs > LEASE_MS;
    const { rows, oldestRunning } = await store.readChanges(this.#db, readsAll ? null : this.#oldestRunning);
    const changes = rows.filter(({ id }) => !this.#seen.has(id));
    const tenantIds = new Set(changes.map(({ tenantId }) => tenantId));
    for (const cache of this.#caches) {
      cache.invalidate(sinceMs > MAX_GAP_MS ? 'all' : tenantIds);
    }
    if (readsAll || this.#seen.size > MAX_SEEN) {
      this.#seen.clear();
    }
    rows.forEach(({ id }) => this.#seen.add(id));
    this.#oldestRunning = oldestRunning;
    this.#polledAtMs = beganAtMs;
    this.#lease.endsAtMs = beganAtMs + LEASE_MS;
    this.#contact?.confirm(beganAtMs);
    if (beganAtMs - this.#removedAtMs > REMOVE_EVERY_MS) {
      this.#removedAtMs = beganAtMs;
      await store.deleteChanges(this.#db, REMOVE_AFTER_SECONDS);
    }
  }

  #note(error: unknown): void {
    if (!this.#isFailing) {
      this.#log.warn(
        { err: error },
        'the list of recent changes cannot be read, so the caches are not used and each call reads from the database',
      );
    }
    this.#isFailing = true;
  }
}
