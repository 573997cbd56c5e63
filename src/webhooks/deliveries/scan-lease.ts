import type { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { newId } from '#platform/lib/ids.ts';
import { lookForFreeSlot, openSlots, releaseSlot, renewSlot, takeSlot } from './scan-lease-store.ts';

/** Length of a scan lease in milliseconds. If the worker that holds the lease dies, its slot is free after this time. */
const LEASE_MS = 800;
/** Interval in milliseconds at which a worker renews its lease. One renewal may fail before the lease ends. */
export const RENEW_EVERY_MS = 300;
/**
 * Longest wait in milliseconds until a worker without a lease searches for a free slot. If a worker dies, another worker must take its slot
 * within 2 s. So this wait and the length of the lease together are shorter than 2 s. Each wait is shorter by a random time (jitter) of up
 * to a quarter.
 */
const LOOK_EVERY_MS = 1_100;
/** Mean wait between two searches for a free slot, including the jitter, in milliseconds. */
export const MEAN_LOOK_MS = LOOK_EVERY_MS * 0.875;
/** Number of slots that are always open. Keep in sync with migration 0022. */
export const ALWAYS_OPEN = 4;
/** Time for which a busy worker opens two more slots for scan leases. */
const OPEN_FOR_SECONDS = 10;
/**
 * Number of consecutive renewals at which a worker must be busy before it opens further slots. So a short burst of events opens no slots.
 */
const BUSY_RENEWALS = 2;

export interface ScanLeaseOptions {
  db: Database;
  /**
   * Object that records when the database last answered this process. Each search for a free slot updates the time. Undefined: no time is
   * recorded.
   */
  contact?: DatabaseContact | undefined;
  /** Called with true when the lease begins, and with false when the lease ends. */
  onChange: (isHeld: boolean) => void;
}

/**
 * Scan lease, which lets one worker search the database for due deliveries. Each row of the table `scan_lease` is a slot for one lease.
 * Usually only four slots are open, so the cost of the search does not grow with the number of workers. A worker without a lease regularly
 * searches for a free slot.
 *
 * If a worker with a lease has more due deliveries than it can send, it opens two more slots for some time. Each worker that takes such a
 * slot may open two more slots. So the number of workers that send a large backlog grows quickly. When a slot closes, its lease ends.
 */
export class ScanLease {
  readonly #options: ScanLeaseOptions;
  readonly #id = newId();
  /** Slot of this worker. Null: the worker has no lease. */
  #slot: number | null = null;
  #nextAtMs = 0;
  #busyRenewals = 0;

  constructor(options: ScanLeaseOptions) {
    this.#options = options;
  }

  /**
   * True if this worker has a lease, so it should search for due deliveries. In a slow process, the lease may already have ended since the
   * last call of `keep`. This does no harm, because two workers that search at the same time never claim the same delivery.
   */
  get isHeld(): boolean {
    return this.#slot !== null;
  }

  /** Time (`performance.now()`) at which `keep` must be called next. */
  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  /**
   * Renews the scan lease of this worker. If the worker has no lease, or cannot renew its lease, the method tries to get a lease. For this,
   * it takes a free slot in the table `scan_lease`. If the method throws, the caller must call it again soon.
   * @param isBusy true if the worker has more due deliveries than it can send
   * @throws Error if the database fails, or if the table `scan_lease` has no rows, because no worker can get a lease without a row
   */
  async keep(isBusy: boolean): Promise<void> {
    const beganAtMs = performance.now();
    const slot = this.#slot;
    // If the worker cannot renew its lease, it needs a free slot. To save time, it already searches for a free slot during the renewal. The
    // time matters, because the worker claims due deliveries only after this method.
    const [free, isRenewed] = await Promise.all([
      this.#findFree(),
      slot !== null && renewSlot(this.#options.db, slot, this.#id, LEASE_MS / 1_000),
    ]);
    if (slot !== null && isRenewed) {
      await this.#callIn(slot, isBusy);
    } else {
      this.#drop();
      await this.#take(free);
    }
    this.#nextAtMs = beganAtMs + (this.#slot === null ? LOOK_EVERY_MS * (0.75 + Math.random() / 4) : RENEW_EVERY_MS);
  }

  /**
   * Ends the lease, so that another worker may search immediately. Does not throw if the database fails, because the lease then ends by
   * itself.
   */
  async release(): Promise<void> {
    const slot = this.#slot;
    this.#drop();
    if (slot !== null) {
      await releaseSlot(this.#options.db, slot, this.#id).catch(() => {});
    }
  }

  /**
   * Reads the lowest free slot. Returns null if no slot is free. The method only reads, so it succeeds even while writes to the database
   * hang. The success is recorded as contact with the database, so that the readiness check `/readyz` of this process still succeeds.
   */
  async #findFree(): Promise<number | null> {
    const beganAtMs = performance.now();
    const { slots, free } = await lookForFreeSlot(this.#options.db);
    this.#options.contact?.confirm(beganAtMs);
    if (slots === 0) {
      throw new Error(
        'The table scan_lease has no rows, so no worker can search for due deliveries. Insert the rows of migration 0022.',
      );
    }
    return free;
  }

  /**
   * Takes the slot `firstFree`, unless it is null. If another worker has taken the slot in the meantime, tries the next free slot, until no
   * slot is free.
   */
  async #take(firstFree: number | null): Promise<void> {
    for (let free = firstFree; free !== null; free = await this.#findFree()) {
      if (await takeSlot(this.#options.db, free, this.#id, LEASE_MS / 1_000)) {
        this.#slot = free;
        this.#busyRenewals = 0;
        this.#options.onChange(true);
        return;
      }
    }
  }

  async #callIn(slot: number, isBusy: boolean): Promise<void> {
    this.#busyRenewals = isBusy ? this.#busyRenewals + 1 : 0;
    if (this.#busyRenewals >= BUSY_RENEWALS) {
      await openSlots(this.#options.db, furtherSlots(slot), OPEN_FOR_SECONDS);
    }
  }

  #drop(): void {
    if (this.#slot !== null) {
      this.#slot = null;
      this.#options.onChange(false);
    }
  }
}

/** Returns the two slots that only the worker with this slot opens: 5 and 6 for slot 1, 7 and 8 for slot 2. */
function furtherSlots(slot: number): number[] {
  const first = ALWAYS_OPEN + 2 * slot - 1;
  return [first, first + 1];
}
