/** A broken guarantee that the suite has found. */
interface Violation {
  fault: string;
  promise: string;
  what: string;
}

const SHOWN_BREACHES = 5;

/** Results of a run of the suite. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly skipped: string[] = [];
  /** Periods in which the database was unavailable or refused writes, in milliseconds since 1970. */
  readonly outages: { fromMs: number; toMs: number }[] = [];
  readonly #known = new Set<string>();
  readonly #print: (line: string) => void;
  #fault = 'before the first fault';

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  beginFault(name: string): void {
    this.#fault = name;
    this.#print(name);
  }

  violation(promise: string, what: string): void {
    this.violations.push({ fault: this.#fault, promise, what });
    this.note(`VIOLATION of ${promise}: ${what}`);
  }

  /**
   * Reports breaches of a guarantee. Each breach is reported only once, because a lost row, for example, is missing in all later checks.
   * @returns the number of new breaches
   */
  breaches(promise: string, all: string[]): number {
    const found = all.filter((breach) => !this.#known.has(promise + breach));
    found.forEach((breach) => this.#known.add(promise + breach));
    found.slice(0, SHOWN_BREACHES).forEach((breach) => this.violation(promise, breach));
    if (found.length > SHOWN_BREACHES) {
      this.violation(promise, `and ${found.length - SHOWN_BREACHES} more breaches of this promise`);
    }
    return found.length;
  }

  /** Reports a time. It is a violation if it is over the limit, or undefined because the suite waited in vain. */
  measure(what: string, valueMs: number | undefined, limitMs: number): void {
    const seen = valueMs === undefined ? 'never happened' : `${(valueMs / 1000).toFixed(2)} s`;
    this.note(`${what}: ${seen} (limit ${limitMs / 1000} s)`);
    if (valueMs === undefined || valueMs > limitMs) {
      this.violation('times are within their limits', `${what}: ${seen}, but ${limitMs / 1000} s are allowed`);
    }
  }

  note(line: string): void {
    this.#print(`    ${line}`);
  }

  /** Runs `work`, which makes the database unavailable to all processes, and records its period as an outage. */
  async duringOutage(work: () => Promise<void>): Promise<void> {
    const fromMs = Date.now();
    await work();
    this.outages.push({ fromMs, toMs: Date.now() });
  }
}
