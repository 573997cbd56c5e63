/** A broken guarantee: its name, the observation, and the place where an investigation should begin. */
export interface Violation {
  promise: string;
  what: string;
  lookAt: string;
}

/** A measured time, with the limit that a guarantee sets. */
interface Measurement {
  what: string;
  valueMs: number;
  limitMs: number;
}

/** Results of a run of the suite, grouped by fault. */
export class Findings {
  readonly violations = new Map<string, Violation[]>();
  readonly measurements: Measurement[] = [];
  /**
   * Violations that were already reported, so that each violation is reported only once. Each text contains the guarantee and the
   * observation.
   */
  readonly known = new Set<string>();
  readonly skipped = new Map<string, string>();
  /** Periods in which the database was unavailable or refused writes, in milliseconds since 1970. */
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

  /**
   * Records a measured time. A time over its limit is a violation. If `valueMs` is undefined, the suite waited for something that never
   * happened, which is also a violation.
   */
  measure(what: string, valueMs: number | undefined, limitMs: number): void {
    if (valueMs === undefined || valueMs > limitMs) {
      const seen = valueMs === undefined ? 'never happened' : `took ${(valueMs / 1000).toFixed(1)} s`;
      this.violation('times are within their limits', `${what}: ${seen}, but ${limitMs / 1000} s are allowed`);
    }
    if (valueMs !== undefined) {
      this.measurements.push({ what, valueMs, limitMs });
      this.#print(`    ${what}: ${(valueMs / 1000).toFixed(2)} s (limit ${limitMs / 1000} s)`);
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

  get count(): number {
    return [...this.violations.values()].reduce((sum, list) => sum + list.length, 0);
  }
}
