import { FairLines } from './fair-lines.ts';

export interface FairGateOptions {
  /** How many may be inside at once. */
  limit: number;
  /** How many of one key may be inside at once, so that others find a place at any time; all of them if left out. */
  limitOf?: (key: string) => number;
  /** A caller that has waited for so long is turned away with the error that `waitedTooLong` makes. */
  maxWaitMs: number;
  waitedTooLong: () => Error;
}

/** Lets so many callers in at a time. The others wait in a line for each key; the lines are served round robin. */
export class FairGate {
  readonly #options: FairGateOptions;
  /** How many callers of each key are inside. */
  readonly #insideOf = new Map<string, number>();
  readonly #waiting = new FairLines<() => void>();
  #inside = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
  }

  /**
   * Every caller that is let in has to `leave`.
   * @returns undefined if the caller is in at once, else a promise that it will be
   */
  enter(key: string): Promise<void> | undefined {
    // A free place that others wait for is one that their keys may not take.
    if (this.#inside < this.#options.limit && this.#mayEnter(key)) {
      this.#count(key, 1);
      return undefined;
    }
    return this.#wait(key);
  }

  leave(key: string): void {
    this.#count(key, -1);
    while (this.#inside < this.#options.limit) {
      const next = this.#waiting.shift((waiting) => this.#mayEnter(waiting));
      if (next === undefined) {
        return;
      }
      this.#count(next.key, 1);
      next.item();
    }
  }

  /** Does the work inside. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.enter(key);
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  /** How many callers wait now. */
  countWaiting(): number {
    return this.#waiting.size;
  }

  #mayEnter(key: string): boolean {
    const { limitOf } = this.#options;
    return limitOf === undefined || (this.#insideOf.get(key) ?? 0) < limitOf(key);
  }

  #count(key: string, change: 1 | -1): void {
    const count = (this.#insideOf.get(key) ?? 0) + change;
    this.#inside += change;
    if (count === 0) {
      this.#insideOf.delete(key);
    } else {
      this.#insideOf.set(key, count);
    }
  }

  #wait(key: string): Promise<void> {
    const { maxWaitMs, waitedTooLong } = this.#options;
    return new Promise((resolve, reject) => {
      const letIn = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.remove(key, letIn);
        reject(waitedTooLong());
      }, maxWaitMs);
      this.#waiting.push(key, letIn);
    });
  }
}
