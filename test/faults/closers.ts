/** Functions that end the parts of a run, for example its servers. The part that started last ends first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  add(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  /** Ends all parts. A second call ends only the parts that were added after the first call. */
  async close(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      await closer();
    }
  }
}
