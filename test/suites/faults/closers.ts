/** Functions that end the servers, processes and clients of a run. The function that was added last is called first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  add(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  /** Calls all functions. A second call of `close` calls only the functions that were added after the first call. */
  async close(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      await closer();
    }
  }
}
