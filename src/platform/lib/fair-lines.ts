/** Items that wait in a line for each key; the lines are served round robin. */
export class FairLines<Item> {
  /** The line whose turn it is comes first. No line is empty. */
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
   * Takes the item whose turn it is.
   * @param mayServe false for a key whose line has to wait, or whose first item has to
   * @returns undefined if there is none
   */
  shift(mayServe: (key: string, first: Item) => boolean = () => true): { key: string; item: Item } | undefined {
    for (const [key, line] of this.#lines) {
      const [first] = line;
      if (mayServe(key, first as Item)) {
        const item = line.shift() as Item;
        this.#size -= 1;
        // To the end, behind the others, if there is more.
        this.#lines.delete(key);
        if (line.length > 0) {
          this.#lines.set(key, line);
        }
        return { key, item };
      }
    }
    return undefined;
  }

  /** Takes an item out of its line, whenever its turn is. */
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
