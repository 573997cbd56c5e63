/**
 * Maximum interval between the last two readiness checks of a proxy. A caller with a longer interval does not count as a proxy. This is
 * also the longest time that a stopping process waits for the next check of each proxy.
 */
const MAX_INTERVAL_MS = 3_000;
/**
 * Time that a proxy needs until it sends all requests to another process. The time begins with the readiness check that tells the proxy of
 * the stop.
 */
const REROUTE_MS = 500;
/**
 * Tolerance in milliseconds for a late readiness check. When the process stops, a caller counts as a proxy only if it still checks
 * regularly. Its next check is due after one interval, and may be late by one more interval plus this tolerance. For example, if a caller
 * checks every second, its last check may be at most 2.2 seconds ago.
 */
const LATE_MS = 200;
/**
 * Maximum number of addresses whose latest check is kept. Without this limit, the checks could fill the memory, because any caller may
 * check the readiness.
 */
const MAX_KNOWN = 1_000;

/** Latest readiness check from one address. */
interface Check {
  atMs: number;
  /** Milliseconds since the previous check from the address. `Infinity`: there was no previous check. */
  intervalMs: number;
}

/**
 * Readiness of the process, as `/readyz` reports it. A proxy is a caller that checks `/readyz` regularly. After a stop, this class knows
 * which proxies have learnt of the stop from a check. All times are in milliseconds of one monotonic clock.
 */
export class Readiness {
  readonly #checks = new Map<string, Check>();
  #stoppedAtMs: number | null = null;
  /** Addresses of the proxies that have made no readiness check since the stop, so they do not know of the stop yet. */
  #uninformed = new Set<string>();
  #lastInformedAtMs = 0;

  /**
   * Records a readiness check.
   * @param address address of the caller
   * @returns true if the process still takes requests
   */
  isServing(address: string, nowMs = performance.now()): boolean {
    if (this.#stoppedAtMs !== null) {
      this.#lastInformedAtMs = this.#uninformed.delete(address) ? nowMs : this.#lastInformedAtMs;
      return false;
    }
    const previous = this.#checks.get(address);
    // Deletes the entry first, so that `set` adds the address at the end of the map. The first entry is then always the oldest check.
    this.#checks.delete(address);
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

  /** Returns true if idle connections may be closed, because all proxies know of the stop or have had enough time to check again. */
  isKnownToStop(nowMs = performance.now()): boolean {
    const sinceMs = nowMs - (this.#stoppedAtMs ?? nowMs);
    return sinceMs >= MAX_INTERVAL_MS || (this.#uninformed.size === 0 && nowMs - this.#lastInformedAtMs >= REROUTE_MS);
  }
}
