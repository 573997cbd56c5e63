/** Counts by key. A key whose count is 0 is not kept. */
export class Tally<Key> {
  readonly #counts = new Map<Key, number>();

  /** How many keys have a count. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key, change: number): void {
    const count = this.of(key) + change;
    if (count === 0) {
      this.#counts.delete(key);
    } else {
      this.#counts.set(key, count);
    }
  }
}
