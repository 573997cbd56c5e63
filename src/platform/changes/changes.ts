import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database, Tx } from '../db/database.ts';
import { newId } from '../lib/ids.ts';
import { TenantCache } from './tenant-cache.ts';
import * as store from './store.ts';

export type { TenantCache } from './tenant-cache.ts';

/** What makes caches: `RecentChanges`, or `NO_CACHES`. */
export type Caches = Pick<RecentChanges, 'createCache'>;

/** For a process that reads too little to keep a cache true: it remembers nothing, and every look goes to the database. */
export const NO_CACHES: Caches = { createCache: () => new TenantCache({ maxEntries: 0, isSure: () => false }) };

/** How often a node asks what has changed … */
const POLL_EVERY_MS = 150;
/** … and for how long after it has begun to ask it trusts what it remembers. */
const LEASE_MS = 500;
/** Timers and clocks of two machines may differ by so much. */
const LEASE_MARGIN_MS = 25;
/** A change is looked for so long after its transaction has begun … */
const WINDOW_SECONDS = 120;
/** … and a node that has not asked for a fourth of that may have missed some: it forgets everything. */
const MAX_GAP_MS = 30_000;
const REMOVE_AFTER_SECONDS = 600;
const REMOVE_EVERY_MS = 60_000;

/** Tells every node to forget what it remembers of the tenant: they know within 0.7 s of the commit. Part of the transaction that changes it. */
export async function announceChange(tx: Tx, tenantId: number): Promise<void> {
  await store.insertChange(tx, tenantId, newId());
}

/** Resolves when no node can act any more on what a transaction that has just been committed made wrong. */
export async function leasesEnded(): Promise<void> {
  await sleep(LEASE_MS + LEASE_MARGIN_MS);
}

/**
 * What this node remembers of tenants, under a lease that one cheap poll renews for all of it. The poll reads the list of recent
 * changes and forgets the tenants on it; where it does not come through in time, nothing is trusted and the database is asked. So
 * whatever was committed longer ago than the lease is known here, or nothing is.
 */
export class RecentChanges {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #caches: TenantCache<unknown>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | null = null;
  #seen = new Set<string>();
  /** When the last poll that came through had begun, by this process's own clock. */
  #polledAtMs = Number.NEGATIVE_INFINITY;
  #removedAtMs = performance.now();
  #isLost = false;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Begins to poll; until then nothing is trusted. */
  start(): void {
    this.#timer = setInterval(() => void this.#pollQuietly(), POLL_EVERY_MS).unref();
    void this.#pollQuietly();
  }

  /** Makes a cache that forgets with all others. @param maxEntries beyond which the tenants remembered longest are forgotten */
  createCache<Value>(maxEntries: number): TenantCache<Value> {
    const cache = new TenantCache<Value>({ maxEntries, isSure: () => performance.now() < this.#polledAtMs + LEASE_MS });
    this.#caches.push(cache);
    return cache;
  }

  /** Resolves when this node knows what was committed before the call: after a change of its own. */
  async catchUp(): Promise<void> {
    await this.#polling;
    await this.#pollQuietly();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
  }

  /** One poll at a time. It never throws: what is remembered is not trusted for longer than the lease. */
  async #pollQuietly(): Promise<void> {
    this.#polling ??= this.#poll()
      .then(
        () => this.#note(null),
        (error: unknown) => this.#note(error),
      )
      .finally(() => (this.#polling = null));
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const beganAtMs = performance.now();
    const changes = await store.readChanges(this.#db, WINDOW_SECONDS);
    const isGap = beganAtMs - this.#polledAtMs > MAX_GAP_MS;
    const tenantIds = new Set(changes.filter(({ id }) => !this.#seen.has(id)).map(({ tenantId }) => tenantId));
    for (const cache of this.#caches) {
      cache.invalidate(isGap ? 'all' : tenantIds);
    }
    this.#seen = new Set(changes.map(({ id }) => id));
    this.#polledAtMs = beganAtMs;
    if (beganAtMs - this.#removedAtMs > REMOVE_EVERY_MS) {
      this.#removedAtMs = beganAtMs;
      await store.deleteChanges(this.#db, REMOVE_AFTER_SECONDS);
    }
  }

  #note(error: unknown): void {
    if (error !== null && !this.#isLost) {
      this.#log.warn(
        { err: error },
        'recent changes cannot be read: the database is asked at every call until they can',
      );
    }
    this.#isLost = error !== null;
  }
}
