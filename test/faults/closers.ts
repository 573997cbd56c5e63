/** Functions that end the parts of a run. The last part that started ends first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  add(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  /** Ends all parts. May be called again, and then ends only the parts that were added since. */
  async close(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      await closer();
    }
  }
}
