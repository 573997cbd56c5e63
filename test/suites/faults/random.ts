/** Generator of pseudo-random numbers (mulberry32). The same seed gives the same numbers. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) {
      throw new RangeError('The list to pick from is empty.');
    }
    return picked;
  }

  /** Returns true in one of `cases` calls on average. */
  oneIn(cases: number): boolean {
    return this.below(cases) === 0;
  }
}
