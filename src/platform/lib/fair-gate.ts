import { FairQueues } from './fair-queues.ts';

export interface FairGateOptions {
  /** Number of callers that may be inside the gate at the same time. */
  limit: number;
  /**
   * Returns the number of callers with this key that may be inside the gate at the same time. If the number is lower than `limit`, callers
   * with this key cannot take all places of the gate. If this function is missing, callers with one key may take all places.
   */
  limitOf?: (key: string) => number;
  /** Longest wait of a caller in milliseconds. After this time the gate refuses the caller with the error from `waitedTooLong`. */
  maxWaitMs: number;
  waitedTooLong: () => Error;
  /**
   * If true, a caller of `run` keeps its place in the gate after its work, for as long as the work took. For example, after 50 ms of work,
   * the place stays taken for 50 ms more. So each place is used for work at most half of the time, and the process has time for other work.
   */
  rests?: boolean;
}

/**
 * Limits the number of callers that do some work at the same time. Further callers wait in one queue for each key, and the gate serves
 * these queues round robin.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  /** Number of callers inside the gate, by key. */
  readonly #insideOf = new Map<string, number>();
  readonly #waiting = new FairQueues<() => void>();
  #inside = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
  }

  /**
   * Enters the gate. Every caller that has entered must call `leave` with the same key.
   * @returns undefined if the caller has entered immediately. Otherwise a promise, which resolves when the caller has entered, and
   *   rejects with the error from `waitedTooLong` after `maxWaitMs`.
   */
  enter(key: string): Promise<void> | undefined {
    // Callers may wait although the gate is not full. Then each of their keys has reached its own limit (`limitOf`), so they cannot enter
    // yet. A new caller with another key may enter before them.
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

  /** Enters the gate, does the work and leaves the gate. Returns the result of the work. Waits first if the caller may not enter yet. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.enter(key);
    const beganMs = performance.now();
    try {
      return await work();
    } finally {
      this.#leaveAfterRest(key, performance.now() - beganMs);
    }
  }

  #leaveAfterRest(key: string, workedMs: number): void {
    if (this.#options.rests === true) {
      setTimeout(() => this.leave(key), workedMs).unref();
    } else {
      this.leave(key);
    }
  }

  /** Returns the number of callers that wait now. */
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
