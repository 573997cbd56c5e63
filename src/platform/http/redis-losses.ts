import type { Logger } from 'pino';
import type { RedisServers } from './redis-servers.ts';

/**
 * Time in milliseconds without a failure before the process logs that Redis is available again. A Redis that is nearly full accepts some
 * commands and refuses others. Without this time, the process would log many times that Redis is lost and that it is back.
 */
const CALM_MS = 1_000;
/**
 * Time in milliseconds within which several failures of a server count as one failure. When a connection breaks, all commands on it fail at
 * nearly the same time.
 */
const SAME_FAILURE_MS = 10;
/** Minimum time in milliseconds between two commands that the process sends to a lost server to find out if the server is back. */
const PROBE_EVERY_MS = 250;

/**
 * Records which hash slots of Redis are lost. After a failed command, the slot of the command and all other slots of the same server are
 * lost. Logs once that Redis is lost, and once that Redis is back.
 */
export class RedisLosses {
  readonly #servers: () => RedisServers;
  readonly #log: Logger;
  /** Time of the last failure of each slot. All times of this class are values of `performance.now()`. */
  readonly #failedAtMs: Float64Array;
  readonly #probedAtMs: Float64Array;
  /** 1 for each slot that is lost, and 0 for each other slot. */
  readonly #isLost: Uint8Array;
  #lostSlots = 0;
  #lastFailureAtMs = Number.NEGATIVE_INFINITY;
  /** Time since which at least one hash slot has been lost without interruption, or null if no hash slot is lost. */
  #lostAtMs: number | null = null;
  #isReported = false;

  constructor(servers: () => RedisServers, slots: number, log: Logger) {
    this.#servers = servers;
    this.#log = log;
    this.#failedAtMs = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.#probedAtMs = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.#isLost = new Uint8Array(slots);
  }

  /** Records that a command to the server of this slot has failed. */
  lose(slot: number, reason: string): void {
    const nowMs = performance.now();
    if (this.isLost(slot) && this.msSinceFailure(slot) < SAME_FAILURE_MS) {
      return;
    }
    this.#lastFailureAtMs = nowMs;
    this.#lostAtMs ??= nowMs;
    for (const each of this.#slotsBeside(slot)) {
      this.#failedAtMs[each] = nowMs;
      this.#lostSlots += this.isLost(each) ? 0 : 1;
      this.#isLost[each] = 1;
    }
    if (!this.#isReported) {
      const slots = this.#isLost.length;
      const what = slots === 1 ? 'Redis' : `A part of Redis (${this.#lostSlots} of ${slots} slots)`;
      this.#log.warn(
        { reason },
        `${what} cannot be used, so this process counts the budgets in its own memory until Redis is back`,
      );
    }
    this.#isReported = true;
  }

  /** Records that the server of this slot responds. Returns true if the slot was lost before. */
  find(slot: number): boolean {
    const wasLost = this.isLost(slot);
    if (wasLost) {
      for (const each of this.#slotsBeside(slot)) {
        this.#lostSlots -= this.isLost(each) ? 1 : 0;
        this.#isLost[each] = 0;
      }
    }
    if (this.#lostSlots === 0) {
      this.#lostAtMs = null;
      if (this.#isReported && this.msSinceAnyFailure() > CALM_MS) {
        this.#log.info('Redis is back: the processes share the budgets again');
        this.#isReported = false;
      }
    }
    return wasLost;
  }

  isLost(slot: number): boolean {
    return this.#isLost[slot] === 1;
  }

  /**
   * Returns true if a script may be sent to the lost server of the slot, to find out if the server is back. Then returns false until
   * `PROBE_EVERY_MS` has passed.
   */
  mayProbe(slot: number): boolean {
    const nowMs = performance.now();
    if (nowMs - (this.#probedAtMs[slot] ?? 0) < PROBE_EVERY_MS) {
      return false;
    }
    for (const each of this.#slotsBeside(slot)) {
      this.#probedAtMs[each] = nowMs;
    }
    return true;
  }

  msSinceFailure(slot: number): number {
    return performance.now() - (this.#failedAtMs[slot] ?? 0);
  }

  msSinceAnyFailure(): number {
    return performance.now() - this.#lastFailureAtMs;
  }

  /** Returns for how many milliseconds at least one slot has been lost without interruption, or zero if no slot is lost. */
  msSinceLoss(): number {
    return this.#lostAtMs === null ? 0 : performance.now() - this.#lostAtMs;
  }

  /** Yields this slot and all other slots of the same server. */
  *#slotsBeside(slot: number): Generator<number> {
    const { areTogether } = this.#servers();
    for (let each = 0; each < this.#isLost.length; each += 1) {
      if (areTogether(slot, each)) {
        yield each;
      }
    }
  }
}
