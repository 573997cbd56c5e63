export interface FairGateOptions {
  /** How many may be inside at once. */
  places: number;
  /** How many of one key may be inside at once, so that others find a place at any time; all of them if left out. */
  placesOf?: (key: string) => number;
  /** A caller that has waited for so long is turned away with the error that `waitedTooLong` makes. */
  maxWaitMs: number;
  waitedTooLong: () => Error;
}

/** What one key has at the gate. */
interface Line {
  inside: number;
  /** Each lets one caller in. */
  waiting: (() => void)[];
}

/** Lets so many callers in at a time. The others wait in a line for each key; the lines are served round robin. */
export class FairGate {
  readonly #options: FairGateOptions;
  /** The line whose turn it is comes first. A key without callers inside or waiting has no line. */
  readonly #lines = new Map<string, Line>();
  #inside = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
  }

  /**
   * Every caller that is let in has to `leave`.
   * @returns undefined if the caller is in at once, else a promise that it will be
   */
  enter(key: string): Promise<void> | undefined {
    const line = this.#lineOf(key);
    if (this.#hasPlaceFor(key, line) && line.waiting.length === 0) {
      this.#letIn(line);
      return undefined;
    }
    return this.#wait(line);
  }

  leave(key: string): void {
    const line = this.#lineOf(key);
    line.inside -= 1;
    this.#inside -= 1;
    if (line.inside === 0 && line.waiting.length === 0) {
      this.#lines.delete(key);
    }
    this.#serveLines();
  }

  /** How many callers wait now. */
  countWaiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  #lineOf(key: string): Line {
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { inside: 0, waiting: [] };
      this.#lines.set(key, line);
    }
    return line;
  }

  #hasPlaceFor(key: string, line: Line): boolean {
    const { places, placesOf } = this.#options;
    return this.#inside < places && (placesOf === undefined || line.inside < placesOf(key));
  }

  #letIn(line: Line): void {
    line.inside += 1;
    this.#inside += 1;
  }

  #serveLines(): void {
    for (const [key, line] of this.#lines) {
      if (this.#inside >= this.#options.places) {
        return;
      }
      const next = this.#hasPlaceFor(key, line) ? line.waiting.shift() : undefined;
      if (next !== undefined) {
        this.#letIn(line);
        // To the end of the lines, where this loop meets it again.
        this.#lines.delete(key);
        this.#lines.set(key, line);
        next();
      }
    }
  }

  #wait(line: Line): Promise<void> {
    const { maxWaitMs, waitedTooLong } = this.#options;
    return new Promise((resolve, reject) => {
      const letIn = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(letIn), 1);
        reject(waitedTooLong());
      }, maxWaitMs);
      line.waiting.push(letIn);
    });
  }
}
