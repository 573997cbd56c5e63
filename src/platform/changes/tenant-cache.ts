export interface Lease {
  endsAtMs: number;
}

type Key = string | number;

/** Cache of one process for data of tenants. The key of an entry must be unique among all tenants. */
export class TenantCache<Value> {
  readonly #maxEntries: number;
  readonly #lease: Readonly<Lease>;
  readonly #values = new Map<Key, Value>();
  /** Keys of the entries, grouped by tenant. The tenant that the cache has held longest comes first. */
  readonly #keys = new Map<number, Set<Key>>();
  /** Number of invalidations so far. If it increases while a value is read, that value may be out of date. */
  #invalidations = 0;

  constructor(maxEntries: number, lease: Readonly<Lease>) {
    this.#maxEntries = maxEntries;
    this.#lease = lease;
  }

  /** Returns the cached value. Returns undefined if the value is not cached or the lease has ended. The caller then reads the database. */
  get(key: Key): Value | undefined {
    return performance.now() < this.#lease.endsAtMs ? this.#values.get(key) : undefined;
  }

  /** Reads a value and caches it, unless it is undefined or an invalidation happened during the read. */
  async load<Read extends Value | undefined>(tenantId: number, key: Key, read: () => Promise<Read>): Promise<Read> {
    const invalidations = this.#invalidations;
    const value = await read();
    if (value !== undefined && invalidations === this.#invalidations) {
      this.#store(tenantId, key, value);
    }
    return value;
  }

  invalidate(tenantIds: ReadonlySet<number> | 'all'): void {
    if (tenantIds === 'all' || tenantIds.size > 0) {
      this.#invalidations += 1; // Also counted if the cache has no entry of these tenants, because `load` may be reading their data.
    }
    for (const tenantId of tenantIds === 'all' ? this.#keys.keys() : tenantIds) {
      this.#invalidateTenant(tenantId);
    }
  }

  #store(tenantId: number, key: Key, value: Value): void {
    this.#values.set(key, value);
    const keys = this.#keys.get(tenantId) ?? new Set<Key>();
    this.#keys.set(tenantId, keys.add(key));
    for (const oldest of this.#keys.keys()) {
      if (this.#values.size <= this.#maxEntries) {
        return;
      }
      this.#invalidateTenant(oldest);
    }
  }

  #invalidateTenant(tenantId: number): void {
    this.#keys.get(tenantId)?.forEach((key) => this.#values.delete(key));
    this.#keys.delete(tenantId);
  }
}
