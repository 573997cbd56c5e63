import { Tally } from './tally.ts';

export interface GateOptions {
  places: number;
  placesOfKey?: number;
  /** Longest wait for a place in milliseconds. After it, the one who waits is refused with the error from `refusal`. */
  maxWaitMs: number;
  refusal: () => Error;
}

/** Lets at most `places` holders in at the same time. Who must wait is served key by key in turn, so that no key delays another. */
export class Gate {
  readonly #options: GateOptions;
  readonly #held = new Tally<string>();
  /** Who waits, by key. The first queue of the map is served next. No queue is empty. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #allHeld = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Takes a place if one is free. Whoever has got a place must call `leave` with the same key. */
  tryEnter(key: string): boolean {
    if (this.#allHeld >= this.#options.places || this.#isKeyFull(key)) {
      return false;
    }
    this.#count(key, 1);
    return true;
  }

  /** Takes a place, and waits for it. @throws the error from `refusal` after `maxWaitMs`, or the reason of an aborted `signal` */
  async enter(key: string, signal?: AbortSignal): Promise<void> {
    if (this.tryEnter(key)) {
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, queue.add(resolve));
    const giveUp = (error: unknown) => {
      if (queue.delete(resolve)) {
        if (queue.size === 0) {
          this.#waiting.delete(key);
        }
        reject(error);
      }
    };
    const timer = setTimeout(() => giveUp(this.#options.refusal()), this.#options.maxWaitMs);
    const onAbort = () => giveUp(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  leave(key: string): void {
    this.#count(key, -1);
    for (const [next, queue] of this.#waiting) {
      if (this.#allHeld >= this.#options.places) {
        return;
      }
      const [admit] = queue;
      if (admit !== undefined && !this.#isKeyFull(next)) {
        queue.delete(admit);
        // A queue that is not empty moves behind the others, where this loop meets it again.
        this.#waiting.delete(next);
        if (queue.size > 0) {
          this.#waiting.set(next, queue);
        }
        this.#count(next, 1);
        admit();
      }
    }
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.enter(key);
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  #isKeyFull(key: string): boolean {
    return this.#held.of(key) >= (this.#options.placesOfKey ?? Number.POSITIVE_INFINITY);
  }

  #count(key: string, change: 1 | -1): void {
    this.#allHeld += change;
    this.#held.add(key, change);
  }
}
