/** A proxy that asks at least this often learns of a stop before its connections are cut. */
const WATCHES_WITHIN_MS = 3_000;
/** A proxy that knows of the stop needs this long to send requests elsewhere. Other clients find new connections refused. */
const MOMENT_MS = 500;
/** An ask may come a little late. */
const LATE_MS = 200;
/** As many addresses are known at once: anybody may ask. */
const MAX_KNOWN = 1_000;

interface Ask {
  atMs: number;
  /** Since the ask before. */
  afterMs: number;
}

/**
 * Whether the process takes requests, and who has been told that it does not any more: those that ask for it (`/readyz`) again and
 * again, as proxies do. All times are of one steady clock, in milliseconds.
 */
export class Readiness {
  readonly #asks = new Map<string, Ask>();
  #stoppedAtMs: number | null = null;
  /** Those that were asking again and again at the stop, and have not been told of it. */
  #untold = new Set<string>();
  #lastToldAtMs = 0;

  /** @param address of who asks */
  isServing(address: string, nowMs = performance.now()): boolean {
    if (this.#stoppedAtMs !== null) {
      this.#lastToldAtMs = this.#untold.delete(address) ? nowMs : this.#lastToldAtMs;
      return false;
    }
    const before = this.#asks.get(address);
    this.#asks.delete(address); // The order is that of the last asks.
    this.#asks.set(address, { atMs: nowMs, afterMs: before === undefined ? Infinity : nowMs - before.atMs });
    const [oldest] = this.#asks.keys();
    if (this.#asks.size > MAX_KNOWN && oldest !== undefined) {
      this.#asks.delete(oldest);
    }
    return true;
  }

  stop(nowMs = performance.now()): void {
    this.#stoppedAtMs = nowMs;
    this.#lastToldAtMs = nowMs;
    const isWatching = ({ atMs, afterMs }: Ask) =>
      afterMs <= WATCHES_WITHIN_MS && nowMs - atMs <= 2 * afterMs + LATE_MS;
    this.#untold = new Set([...this.#asks].filter(([, ask]) => isWatching(ask)).map(([address]) => address));
  }

  /** Whether idle connections may be cut: all who watch have been told, or have had the time to ask. */
  isKnownToStop(nowMs = performance.now()): boolean {
    const sinceMs = nowMs - (this.#stoppedAtMs ?? nowMs);
    return sinceMs >= WATCHES_WITHIN_MS || (this.#untold.size === 0 && nowMs - this.#lastToldAtMs >= MOMENT_MS);
  }
}
