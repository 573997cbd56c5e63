import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DatabaseContact } from '../db/contact.ts';
import type { Database, Tx } from '../db/database.ts';
import { coalesce } from '../lib/coalesce.ts';
import { newId } from '../lib/ids.ts';
import { type Poll, poll } from '../lib/poll.ts';
import { type Lease, TenantCache } from './tenant-cache.ts';
import * as store from './store.ts';

export type { ChangeRow } from './store.ts';
export type { TenantCache } from './tenant-cache.ts';

/** Function that gets new changes, or `all` if changes may be missing because polls have failed for a long time. */
type Listener = (changes: store.ChangeRow[] | 'all') => void;

/** Object that makes tenant caches: a `RecentChanges`, or `NO_CACHES`. */
export type Caches = Pick<RecentChanges, 'createCache'>;

/**
 * Maker of caches that store no data, so that every read goes to the database. Used by a process that reads so little that a cache would
 * not help.
 */
export const NO_CACHES: Caches = {
  createCache: () => new TenantCache({ maxEntries: 0, lease: { endsAtMs: Number.NEGATIVE_INFINITY } }),
};

/** Interval in milliseconds at which each process of the service polls the list of recent changes. */
export const POLL_EVERY_MS = 200;
/**
 * Length of the lease of all caches in milliseconds. A process may use its caches for this time after the start of the last successful
 * poll.
 */
const LEASE_MS = 500;
/** Time in milliseconds that `waitForLeasesToEnd` adds to the lease, because the timers of two machines may run at different speeds. */
const LEASE_MARGIN_MS = 25;
/**
 * Maximum time in milliseconds between two successful polls. After a longer time, the process invalidates all cached data, because some
 * changes may have been removed before the process has read them (`REMOVE_AFTER_SECONDS`).
 */
const MAX_GAP_MS = 30_000;
const REMOVE_AFTER_SECONDS = 600;
const REMOVE_EVERY_MS = 60_000;
/**
 * Maximum number of ids of changes that a process keeps, to recognize the changes that it has read already. If there are more, the process
 * discards all of these ids. A poll may then invalidate the data of some tenants a second time, which does no harm.
 */
const MAX_SEEN = 10_000;

/** Kinds of data whose changes are announced to all processes, because the processes cache this data. */
export type ChangeTopic = 'credentials' | 'menu' | 'pause' | 'rooms';

/**
 * Records, as part of the transaction, that data of the tenant has changed. Each process of the service polls for such changes. From 0.5 s
 * after the commit (`LEASE_MS`), no process uses cached data from before the change, even if its polls fail. Each poll also tells the
 * listeners of its process about the changes that it finds (`onChanges`).
 * @param topic kind of the data. Null if any data may have changed.
 */
export async function announceChange(tx: Tx, tenantId: number, topic: ChangeTopic | null): Promise<void> {
  await store.insertChange(tx, tenantId, newId(), topic);
}

/**
 * Waits for the length of a lease, and for a margin because the timers of machines differ. If a change was committed before the call, no
 * cache returns the old data afterwards. In the meantime each process has either read the change, or lost the lease of its caches.
 */
export async function waitForLeasesToEnd(): Promise<void> {
  await sleep(LEASE_MS + LEASE_MARGIN_MS);
}

/**
 * Makes the tenant caches of this process, and keeps them valid by polling the list of recent changes. A poll invalidates the data of the
 * tenants on the list, and renews the lease of all caches. If no poll succeeds within the lease, the caches return no data, and every read
 * goes to the database. So data from a cache is never out of date by more than the lease.
 */
export class RecentChanges {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #contact: DatabaseContact | undefined;
  readonly #caches: TenantCache<unknown>[] = [];
  readonly #listeners: Listener[] = [];
  #regular: Poll | undefined;
  /** Ids of the changes that polls have read, so that no poll reports a change a second time. */
  #seen = new Set<string>();
  /**
   * Number of the oldest transaction that was running at the last successful poll. The next poll reads the changes of this and all later
   * transactions. Null until a poll has succeeded.
   */
  #oldestRunning: string | null = null;
  /** Start of the last successful poll, in milliseconds of this process's own clock (`performance.now`). */
  #polledAtMs = Number.NEGATIVE_INFINITY;
  readonly #lease: Lease = { endsAtMs: Number.NEGATIVE_INFINITY };
  #removedAtMs = performance.now();
  #isFailing = false;

  /** @param contact Stores the time of each successful poll. `/readyz` reads this time, and so needs no statement of its own. */
  constructor(db: Database, log: Logger, contact?: DatabaseContact) {
    this.#db = db;
    this.#log = log;
    this.#contact = contact;
  }

  /** Starts the polls. The caches return no data before the first poll has succeeded. */
  start(): void {
    this.#regular = poll(POLL_EVERY_MS, this.catchUp, (error) => this.#note(error));
  }

  /**
   * Makes a cache. The polls invalidate its data.
   * @param maxEntries largest number of entries. If there are more, the cache removes the entries of whole tenants, beginning with the
   * tenant that it has held longest.
   */
  createCache<Value>(maxEntries: number): TenantCache<Value> {
    const cache = new TenantCache<Value>({ maxEntries, lease: this.#lease });
    this.#caches.push(cache);
    return cache;
  }

  /** Adds a listener. Each poll that has read new changes, of any tenants, calls the listener after it has invalidated the caches. */
  onChanges(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /**
   * Waits for a poll that begins after this call. If the poll succeeds, this process knows all changes that were committed before the call.
   * Used after a change that this process has made itself. Does not throw if the poll fails. After a failed poll the lease of the caches
   * expires, and the caches return no data until a poll succeeds.
   */
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
   * Reads the changes that were committed since the last poll.
   * - On a cluster, the poll reads all changes of the last two minutes (`readChanges`).
   * - On one node, the poll finds these changes by their transaction numbers, if the lease of the caches (`LEASE_MS`) has not ended. It
   *   reads the changes of the oldest transaction that was running at the last poll, and of all transactions with higher numbers. So the
   *   poll also finds a change whose transaction took long to commit.
   * - On one node, the poll reads all stored changes if the lease has ended. The reason is that the database may have failed over to a new
   *   primary. The new primary may give lower transaction numbers than the old primary, so a poll by numbers would miss changes. After a
   *   failover, the lease has always ended. A failover takes longer than the lease, and no poll succeeds in this time.
   */
  async #poll(): Promise<void> {
    const beganAtMs = performance.now();
    const sinceMs = beganAtMs - this.#polledAtMs;
    const readsAll = sinceMs > LEASE_MS;
    const { rows, oldestRunning } = await store.readChanges(this.#db, readsAll ? null : this.#oldestRunning);
    const changes = rows.filter(({ id }) => !this.#seen.has(id));
    const tenantIds = new Set(changes.map(({ tenantId }) => tenantId));
    const mayMiss = sinceMs > MAX_GAP_MS;
    for (const cache of this.#caches) {
      cache.invalidate(mayMiss ? 'all' : tenantIds);
    }
    if (readsAll || this.#seen.size > MAX_SEEN) {
      this.#seen.clear();
    }
    rows.forEach(({ id }) => this.#seen.add(id));
    if (mayMiss || changes.length > 0) {
      this.#listeners.forEach((listener) => listener(mayMiss ? 'all' : changes));
    }
    this.#oldestRunning = oldestRunning;
    this.#polledAtMs = beganAtMs;
    this.#lease.endsAtMs = beganAtMs + LEASE_MS;
    this.#contact?.confirm(beganAtMs);
    if (beganAtMs - this.#removedAtMs > REMOVE_EVERY_MS) {
      this.#removedAtMs = beganAtMs;
      await store.deleteChanges(this.#db, REMOVE_AFTER_SECONDS);
    }
  }

  /** Logs the first of several failures in a row. */
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
