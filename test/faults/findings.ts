/** Something that must not be: which promise it breaks, what was seen, and what to look at. */
export interface Violation {
  promise: string;
  what: string;
  lookAt: string;
}

/** A time that a promise bounds. */
export interface Measurement {
  what: string;
  valueMs: number;
  limitMs: number;
}

/** What the run finds out, kept by the fault that was on. */
export class Findings {
  readonly violations = new Map<string, Violation[]>();
  readonly measurements: Measurement[] = [];
  /** Breaches that were reported already. */
  readonly known = new Set<string>();
  readonly skipped = new Map<string, string>();
  /** Stretches of time in which no process could reach the database, or write to it; milliseconds since 1970. */
  readonly outages: { fromMs: number; toMs: number }[] = [];
  #fault = 'before the first fault';
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  beginFault(name: string): void {
    this.#fault = name;
    this.violations.set(name, this.violations.get(name) ?? []);
  }

  violation(promise: string, what: string, lookAt = ''): void {
    const list = this.violations.get(this.#fault) ?? [];
    list.push({ promise, what, lookAt });
    this.violations.set(this.#fault, list);
    this.#print(`    VIOLATION of ${promise}: ${what}`);
  }

  /** Keeps a time; one over its limit, or one that never came, is a violation. */
  measure(what: string, valueMs: number | undefined, limitMs: number): void {
    if (valueMs === undefined || valueMs > limitMs) {
      const seen = valueMs === undefined ? 'not at all' : `after ${(valueMs / 1000).toFixed(1)} s`;
      this.violation('times', `${what}: ${seen}, and ${limitMs / 1000} s are allowed`);
    }
    if (valueMs !== undefined) {
      this.measurements.push({ what, valueMs, limitMs });
      this.#print(`    ${what}: ${(valueMs / 1000).toFixed(2)} s (limit ${limitMs / 1000} s)`);
    }
  }

  note(line: string): void {
    this.#print(`    ${line}`);
  }

  /** Runs what takes the database away from everyone, and keeps how long. */
  async duringOutage(work: () => Promise<void>): Promise<void> {
    const fromMs = Date.now();
    await work();
    this.outages.push({ fromMs, toMs: Date.now() });
  }

  get count(): number {
    return [...this.violations.values()].reduce((sum, list) => sum + list.length, 0);
  }
}
