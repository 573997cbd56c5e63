/** Longest interval between two checks of a proxy that learns of a stop before its connections are closed. */
const MAX_INTERVAL_MS = 3_000;
/** Time that a proxy needs to redirect its requests when it knows of the stop. Other clients see that new connections are refused. */
const REROUTE_MS = 500;
/** Largest delay with which a check still counts as regular. */
const LATE_MS = 200;
/** Largest number of addresses that are kept. It bounds the memory, because every caller may check the readiness. */
const MAX_KNOWN = 1_000;

/** Latest readiness check of an address. */
interface Check {
  atMs: number;
  /** Time since the previous check of the address; `Infinity` if there was no previous check. */
  intervalMs: number;
}

/**
 * Readiness of the process. After a stop it tracks which proxies know that the process takes no more requests. A proxy is a caller that
 * checks `/readyz` regularly. All times are in milliseconds of one monotonic clock.
 */
export class Readiness {
  readonly #checks = new Map<string, Check>();
  #stoppedAtMs: number | null = null;
  /** Addresses that checked regularly at the stop and do not know of it yet. */
  #uninformed = new Set<string>();
  #lastInformedAtMs = 0;

  /**
   * Records a check.
   * @param address address of the caller
   * @returns true if the process takes requests
   */
  isServing(address: string, nowMs = performance.now()): boolean {
    if (this.#stoppedAtMs !== null) {
      this.#lastInformedAtMs = this.#uninformed.delete(address) ? nowMs : this.#lastInformedAtMs;
      return false;
    }
    const previous = this.#checks.get(address);
    this.#checks.delete(address); // The next line then inserts it at the end, so the map is in the order of the latest checks.
    this.#checks.set(address, { atMs: nowMs, intervalMs: previous === undefined ? Infinity : nowMs - previous.atMs });
    const [oldest] = this.#checks.keys();
    if (this.#checks.size > MAX_KNOWN && oldest !== undefined) {
      this.#checks.delete(oldest);
    }
    return true;
  }

  stop(nowMs = performance.now()): void {
    this.#stoppedAtMs = nowMs;
    this.#lastInformedAtMs = nowMs;
    const isRegular = ({ atMs, intervalMs }: Check) =>
      intervalMs <= MAX_INTERVAL_MS && nowMs - atMs <= 2 * intervalMs + LATE_MS;
    this.#uninformed = new Set([...this.#checks].filter(([, check]) => isRegular(check)).map(([address]) => address));
  }

  /** Returns true if idle connections may be closed, because all proxies know of the stop or had the time to check again. */
  isKnownToStop(nowMs = performance.now()): boolean {
    const sinceMs = nowMs - (this.#stoppedAtMs ?? nowMs);
    return sinceMs >= MAX_INTERVAL_MS || (this.#uninformed.size === 0 && nowMs - this.#lastInformedAtMs >= REROUTE_MS);
  }
}
