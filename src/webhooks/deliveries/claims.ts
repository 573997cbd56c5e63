import type { Database } from '#platform/db/database.ts';
import { Tally } from '#platform/lib/tally.ts';
import type { ClaimedDelivery, DueQueue, Lease } from '../events/events.ts';
import type { SendingSlots, Slot } from './sending-slots.ts';
import { CLAIM_SIZE, claimDue, findDueQueues } from './store.ts';

/** Maximum number of deliveries of one revoked credential that one claim stops. The rest of them wait until the credential's next turn. */
const STOP_SIZE = 20;
/** Maximum number of queues in memory. A queue is one credential with due deliveries. If the maximum is reached, the scan pauses. */
const MAX_QUEUES = 5_000;
/** Maximum number of queues that the scan adds for one tenant, so that other tenants always have space in memory. */
const MAX_QUEUES_OF_TENANT = MAX_QUEUES / 2;

export interface Claim {
  delivery: ClaimedDelivery;
  slot: Slot;
}

/** Sending slots taken for one queue before its deliveries are claimed. */
interface SlotReservation {
  queue: DueQueue;
  /** Number of deliveries to claim. A revoked credential needs no slots, because its deliveries are stopped and not sent. */
  count: number;
  slots: Slot[];
}

/**
 * Claims due deliveries in the database, as many as sending slots are free. It keeps only the credentials that have due deliveries,
 * and not the deliveries themselves. So a backlog of a million deliveries takes no more memory than one of ten.
 */
export class Claims {
  readonly #db: Database;
  readonly #slots: SendingSlots;
  readonly #newLease: () => Lease;
  /** Queues by credential id. The queue whose turn is next comes first. */
  readonly #queues = new Map<string, DueQueue>();
  /** Number of queues in memory, by tenant id. */
  readonly #queuesOf = new Tally<number>();
  /** Last queue of the previous scan, where the next scan continues. Null: the next scan begins at the first tenant. */
  #scanAfter: DueQueue | null = null;
  /** URLs of receivers without a free slot. The scan skips their queues until a slot is free, because too many queues are in memory. */
  readonly #passedOver = new Set<string>();

  constructor(db: Database, slots: SendingSlots, newLease: () => Lease) {
    this.#db = db;
    this.#slots = slots;
    this.#newLease = newLease;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Returns true if a queue of another tenant is in memory. */
  hasQueuesOfOtherTenants(tenantId: number): boolean {
    return this.#queues.size > this.#queuesOf.of(tenantId);
  }

  add(queue: DueQueue): void {
    if (!this.#queues.has(queue.credentialId)) {
      this.#queuesOf.add(queue.tenantId, 1);
    }
    this.#queues.set(queue.credentialId, queue); // A queue that is already in the Map keeps its place.
  }

  /**
   * Searches the database for credentials with due deliveries. Such a delivery is a retry, an event of a process that sends nothing, or
   * an event of a process that died.
   */
  async scan(): Promise<void> {
    this.#dropBusyReceivers();
    const limit = MAX_QUEUES - this.#queues.size;
    if (limit <= 0) {
      return;
    }
    const found = await findDueQueues(this.#db, { after: this.#scanAfter, limit, passOver: [...this.#passedOver] });
    for (const queue of found) {
      if (this.#queuesOf.of(queue.tenantId) < MAX_QUEUES_OF_TENANT) {
        this.add(queue);
      }
    }
    this.#scanAfter = found.length === limit ? (found.at(-1) ?? null) : null;
  }

  /**
   * Claims as many deliveries as there are free slots, credential by credential in their order, in one statement.
   * @returns the claimed deliveries; null if no queue has a free slot. If the result is not null, even if it is empty, call again, because
   * more deliveries may be due.
   */
  async take(): Promise<Claim[] | null> {
    const reservations = this.#reserve();
    if (reservations.length === 0) {
      return null;
    }
    try {
      const wanted = reservations.map(({ queue: { tenantId, credentialId }, count }) => ({
        tenantId,
        credentialId,
        count,
      }));
      const { deliveries, takenOf } = await claimDue(this.#db, wanted, this.#newLease());
      for (const { queue, count } of reservations) {
        this.#remove(queue);
        if (takenOf.get(queue.credentialId) === count) {
          this.add(queue); // The credential may have more due deliveries. Its next turn comes after all other queues.
        }
      }
      const slotsOf = new Map(reservations.map(({ queue, slots }) => [queue.credentialId, slots]));
      return deliveries.map((delivery) => ({ delivery, slot: this.#slotFor(delivery, slotsOf) }));
    } finally {
      reservations.forEach(({ slots }) => slots.forEach((slot) => this.#slots.release(slot)));
    }
  }

  /**
   * Removes the queues of receivers without a free slot if half of the maximum is reached. Otherwise the queues of slow receivers would
   * fill the memory, and the scan would not find other credentials. A later scan finds the removed queues again.
   */
  #dropBusyReceivers(): void {
    for (const url of this.#passedOver) {
      if (this.#slots.freeSlots(url) > 0) {
        this.#passedOver.delete(url);
      }
    }
    if (this.#queues.size < MAX_QUEUES / 2 || this.#slots.freeSlots() === 0) {
      return;
    }
    for (const queue of this.#queues.values()) {
      if (queue.isActive && this.#slots.freeSlots(queue.webhookUrl) === 0) {
        this.#remove(queue);
        this.#passedOver.add(queue.webhookUrl);
      }
    }
  }

  #remove({ tenantId, credentialId }: DueQueue): void {
    if (this.#queues.delete(credentialId)) {
      this.#queuesOf.add(tenantId, -1);
    }
  }

  #reserve(): SlotReservation[] {
    const reservations: SlotReservation[] = [];
    let left = CLAIM_SIZE;
    for (const [queue, free] of this.#queuesInTurn()) {
      const count = Math.min(left, free);
      if (count > 0) {
        const { tenantId, webhookUrl, isActive } = queue;
        const slots = Array.from({ length: isActive ? count : 0 }, () => this.#slots.take(tenantId, webhookUrl));
        reservations.push({ queue, count, slots });
        left -= count;
      }
      if (left === 0) {
        break;
      }
    }
    return reservations;
  }

  /**
   * Yields the queues in their order, each with the number of deliveries that may be claimed now. A tenant that holds half of all slots
   * comes after the other tenants and takes the slots that they leave, so that no slot stays free while a delivery waits.
   */
  *#queuesInTurn(): Generator<[DueQueue, number]> {
    const overHalf: DueQueue[] = [];
    for (const queue of this.#queues.values()) {
      const freeSlotsOfTenant = this.#slots.freeSlotsOfTenant(queue.tenantId);
      if (!queue.isActive) {
        yield [queue, STOP_SIZE]; // These deliveries are stopped and not sent, so they need no slot.
      } else if (freeSlotsOfTenant === 0) {
        overHalf.push(queue);
      } else {
        yield [queue, Math.min(freeSlotsOfTenant, this.#slots.freeSlots(queue.webhookUrl))];
      }
    }
    for (const queue of overHalf) {
      yield [queue, this.#slots.freeSlots(queue.webhookUrl)];
    }
  }

  /** Returns a slot for the delivery's URL. The credential may have registered another URL after the slots were reserved. */
  #slotFor({ tenantId, credentialId, webhookUrl }: ClaimedDelivery, slotsOf: Map<string, Slot[]>): Slot {
    const slots = slotsOf.get(credentialId) ?? [];
    const reserved = slots.at(-1)?.url === webhookUrl ? slots.pop() : undefined;
    return reserved ?? this.#slots.take(tenantId, webhookUrl);
  }
}
