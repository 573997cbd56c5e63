/** Queues that are served round robin. The items of each key wait in a queue of their own. */
export class FairQueues<Item> {
  /** Queues by key. The first queue of the map is served next. No queue is empty. */
  readonly #lines = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(key: string, item: Item): void {
    const line = this.#lines.get(key);
    this.#size += 1;
    if (line === undefined) {
      this.#lines.set(key, [item]);
    } else {
      line.push(item);
    }
  }

  /**
   * Removes the next item, round robin by key, and returns it with its key.
   * @param mayServe gets the key and the first item of a queue, and returns false if this queue must wait longer
   * @returns undefined if no item waits, or if every queue must wait longer
   */
  shift(mayServe: (key: string, first: Item) => boolean = () => true): { key: string; item: Item } | undefined {
    for (const [key, line] of this.#lines) {
      const [first] = line;
      if (mayServe(key, first as Item)) {
        const item = line.shift() as Item;
        this.#size -= 1;
        // The queue is deleted and, if it still has items, added again. So it moves behind the other queues of the map.
        this.#lines.delete(key);
        if (line.length > 0) {
          this.#lines.set(key, line);
        }
        return { key, item };
      }
    }
    return undefined;
  }

  /** Removes an item from its queue before its turn. The item must be in the queue. */
  remove(key: string, item: Item): void {
    const left = this.#lines.get(key)?.filter((each) => each !== item) ?? [];
    this.#size -= 1;
    if (left.length > 0) {
      this.#lines.set(key, left);
    } else {
      this.#lines.delete(key);
    }
  }
}
