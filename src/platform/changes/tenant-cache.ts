interface CacheOptions {
  maxEntries: number;
  /** Whether what is remembered may be trusted now. */
  isSure: () => boolean;
}

type Key = string | number;

/** What a node remembers of tenants, each piece under a key that no other tenant has. */
export class TenantCache<Value> {
  readonly #options: CacheOptions;
  readonly #values = new Map<Key, Value>();
  /** The keys of each tenant, the tenants remembered longest first. */
  readonly #keys = new Map<number, Set<Key>>();
  /** How often anything was forgotten: what was read meanwhile may be older than the change. */
  #invalidations = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** @returns undefined where nothing is remembered, or it is not sure: ask the database */
  get(key: Key): Value | undefined {
    return this.#options.isSure() ? this.#values.get(key) : undefined;
  }

  /** Reads from the database and remembers, unless something has changed meanwhile. What is undefined is not remembered. */
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
      this.#invalidations += 1; // Also where nothing is remembered yet: something may be on its way.
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
      if (this.#values.size <= this.#options.maxEntries) {
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
