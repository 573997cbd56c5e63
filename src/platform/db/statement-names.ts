/** Largest number of statements that a pool prepares. Each one takes about 10 kB of the server's memory on each connection. */
const MAX_NAMES = 400;
/**
 * Largest number of parameters of a prepared statement. A statement with more parameters contains a list of rows, and has another text for
 * each number of rows. So if it were prepared, it would rarely be used again.
 */
const MAX_PARAMETERS = 64;

/**
 * Names of the prepared statements of a pool, by text. pg prepares a statement with a name once on each connection. A statement without
 * parameters gets no name, because some of them cannot be prepared.
 */
export class StatementNames {
  /** Name of each text, or undefined if the text must not be prepared again. */
  readonly #names = new Map<string, string | undefined>();

  nameOf(text: string, parameterCount: number): string | undefined {
    const isPreparable = parameterCount > 0 && parameterCount <= MAX_PARAMETERS;
    if (isPreparable && !this.#names.has(text) && this.#names.size < MAX_NAMES) {
      this.#names.set(text, `roomservice_${this.#names.size}`);
    }
    return this.#names.get(text);
  }

  /**
   * Stops to prepare a statement whose table has changed since it was prepared. A new name would not do, because a pooler such as PgBouncer
   * finds prepared statements by their text.
   */
  giveUp(text: string): void {
    this.#names.set(text, undefined);
  }
}
