interface MemoryOptions {
  maxEntries: number;
  /** Whether what is remembered may be trusted now. */
  isSure: () => boolean;
}

/** What a node remembers, by tenant and a key of the memory's own choice. */
export class Memory<Value> {
  readonly #options: MemoryOptions;
  /** The tenants remembered longest first. */
  readonly #tenants = new Map<number, Map<string, Value>>();
  #size = 0;
  /** How often anything was forgotten: what was read meanwhile may be older than the change. */
  #era = 0;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  /** @returns undefined where nothing is remembered, or it is not sure: ask the database */
  get(tenantId: number, key: string): Value | undefined {
    return this.#options.isSure() ? this.#tenants.get(tenantId)?.get(key) : undefined;
  }

  /** Reads from the database and remembers, unless something has changed meanwhile. What is undefined is not remembered. */
  async load(tenantId: number, key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const era = this.#era;
    const value = await read();
    if (value !== undefined && era === this.#era) {
      this.#remember(tenantId, key, value);
    }
    return value;
  }

  forget(tenantIds: ReadonlySet<number> | 'all'): void {
    if (tenantIds === 'all') {
      this.#tenants.clear();
      this.#size = 0;
      this.#era += 1;
      return;
    }
    if (tenantIds.size > 0) {
      this.#era += 1;
      tenantIds.forEach((tenantId) => this.#forgetTenant(tenantId));
    }
  }

  #remember(tenantId: number, key: string, value: Value): void {
    const known = this.#tenants.get(tenantId) ?? new Map<string, Value>();
    this.#tenants.set(tenantId, known);
    this.#size += known.has(key) ? 0 : 1;
    known.set(key, value);
    for (const oldest of this.#tenants.keys()) {
      if (this.#size <= this.#options.maxEntries) {
        return;
      }
      this.#forgetTenant(oldest);
    }
  }

  #forgetTenant(tenantId: number): void {
    this.#size -= this.#tenants.get(tenantId)?.size ?? 0;
    this.#tenants.delete(tenantId);
  }
}
