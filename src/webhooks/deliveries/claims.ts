import type { Database } from '#platform/db/database.ts';
import { Tally } from '#platform/lib/tally.ts';
import type { ClaimedDelivery, DueQueue, Lease } from '../events/events.ts';
import type { SendingSlots, Slot } from './sending-slots.ts';
import { CLAIM_SIZE, claimDue, findDueQueues } from './store.ts';

/**
 * Maximum number of deliveries of one revoked credential that one claim sets to the status `stopped`. Further deliveries of the credential
 * wait for a later claim.
 */
const STOP_SIZE = 20;
/**
 * Maximum number of queues in memory. A queue is one credential with due deliveries. While memory has this number of queues, `scan` does
 * not search for more.
 */
const MAX_QUEUES = 5_000;
/** Maximum number of queues that a search adds for one tenant, so that memory always has space for other tenants. */
const MAX_QUEUES_OF_TENANT = MAX_QUEUES / 2;

/** Claimed delivery with the sending slot that its attempt uses. */
export interface Claim {
  delivery: ClaimedDelivery;
  slot: Slot;
}

/** Sending slots that are reserved for the deliveries of one credential in the next claim. */
interface SlotReservation {
  queue: DueQueue;
  /** Number of deliveries to claim. If the credential is revoked, `slots` is empty, because its deliveries are stopped and not sent. */
  count: number;
  slots: Slot[];
}

/**
 * Claims due deliveries in the database, at most as many as `SendingSlots` permits. In memory, this class keeps only the credentials with
 * due deliveries. It does not keep the deliveries, so a million waiting deliveries take no more memory than ten.
 */
export class Claims {
  readonly #db: Database;
  readonly #slots: SendingSlots;
  readonly #newLease: () => Lease;
  /** Credentials with due deliveries, by credential id. The next claim begins with the first credential. */
  readonly #queues = new Map<string, DueQueue>();
  /** Number of credentials in `#queues`, by tenant id. */
  readonly #queuesOf = new Tally<number>();
  /**
   * Last credential that the previous `scan` found. The next `scan` continues after it. Null: the next `scan` begins at the first tenant.
   */
  #scanAfter: DueQueue | null = null;
  /**
   * Webhook URLs without a free sending slot. `dropBusyReceivers` removed their queues from memory. `scan` skips such a URL until it has a
   * free slot.
   */
  readonly #passedOver = new Set<string>();

  constructor(db: Database, slots: SendingSlots, newLease: () => Lease) {
    this.#db = db;
    this.#slots = slots;
    this.#newLease = newLease;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Returns true if memory has a queue (a credential with due deliveries) of a tenant other than `tenantId`. */
  hasQueuesOfOtherTenants(tenantId: number): boolean {
    return this.#queues.size > this.#queuesOf.of(tenantId);
  }

  /** @param queue a new object in each call, because `take` recognizes by the object that `add` was called during a claim */
  add(queue: DueQueue): void {
    if (!this.#queues.has(queue.credentialId)) {
      this.#queuesOf.add(queue.tenantId, 1);
    }
    // A credential that is already in the Map keeps its position, so it does not wait longer for its turn.
    this.#queues.set(queue.credentialId, queue);
  }

  /**
   * Searches the database for credentials with due deliveries, and adds them to the queues in memory. The search finds retries, and
   * deliveries of events that were written by a process that sends no events or that has died.
   */
  async scan(): Promise<void> {
    const limit = MAX_QUEUES - this.#queues.size;
    if (limit <= 0) {
      return;
    }
    const search = { after: this.#scanAfter, limit, passOver: [...this.#passedOver] };
    const found = await findDueQueues(this.#db, search);
    for (const queue of found) {
      if (this.#queuesOf.of(queue.tenantId) < MAX_QUEUES_OF_TENANT) {
        this.add(queue);
      }
    }
    this.#scanAfter = found.length === limit ? (found.at(-1) ?? null) : null;
  }

  /**
   * Claims due deliveries of some of the credentials in memory, with one statement. Claims at most as many deliveries as `SendingSlots`
   * permits. The caller must call again until the result is null.
   * @returns the claimed deliveries, or null if `SendingSlots` permits no claim or if no credential is in memory. The list may be empty,
   * for example because another worker has claimed the deliveries in the meantime. Even after an empty list, the next call may find
   * deliveries of other credentials.
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
        const latest = this.#queues.get(queue.credentialId) ?? queue;
        this.#remove(queue);
        // The credential may have more due deliveries if the claim took as many as it may, or if `add` was called during the claim, because
        // the claim may have missed this event. Such a credential is added again, behind all other credentials.
        if (takenOf.get(queue.credentialId) === count || latest !== queue) {
          this.add(latest);
        }
      }
      const slotsOf = new Map(reservations.map(({ queue, slots }) => [queue.credentialId, slots]));
      return deliveries.map((delivery) => ({ delivery, slot: this.#slotFor(delivery, slotsOf) }));
    } finally {
      reservations.forEach(({ slots }) => slots.forEach((slot) => this.#slots.release(slot)));
    }
  }

  /**
   * Removes the queues (credentials with due deliveries) of receivers without a free slot. Does this only if memory has at least half of
   * the maximum number of queues (`MAX_QUEUES`). If these queues stayed, memory could be full of queues of slow receivers, and `scan` would
   * add no other queues. A later `scan` finds the removed queues again.
   */
  dropBusyReceivers(): void {
    for (const url of this.#passedOver) {
      if (this.#slots.freeToClaim(url) > 0) {
        this.#passedOver.delete(url);
      }
    }
    if (this.#queues.size < MAX_QUEUES / 2 || this.#slots.freeSlots() === 0) {
      return;
    }
    for (const queue of this.#queues.values()) {
      if (queue.isActive && this.#slots.freeToClaim(queue.webhookUrl) === 0) {
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

  /**
   * Takes sending slots for the next claim. Each queue (a credential with due deliveries) gets an equal part of the claim. With larger
   * parts, the first queues would use the whole claim, and the worker would open many connections to few receivers.
   */
  #reserve(): SlotReservation[] {
    const inTurn = firstOf(this.#queuesInTurn(), CLAIM_SIZE);
    const part = Math.ceil(CLAIM_SIZE / inTurn.length);
    const reservations: SlotReservation[] = [];
    let left = CLAIM_SIZE;
    for (const { queue, free } of inTurn) {
      const { tenantId, webhookUrl, isActive } = queue;
      const count = Math.min(left, part, free());
      if (count > 0) {
        const slots = Array.from({ length: isActive ? count : 0 }, () => this.#slots.take(tenantId, webhookUrl));
        reservations.push({ queue, count, slots });
        left -= count;
      }
    }
    return reservations;
  }

  /**
   * Yields the queues (credentials with due deliveries) from which deliveries may be claimed now, in the order of claims. `free` returns
   * the maximum number of deliveries to claim from the queue. A tenant that has half of all slots comes last, and gets only the slots that
   * the other tenants do not need. It is not left out, because a slot should not stay free while a delivery waits.
   */
  *#queuesInTurn(): Generator<{ queue: DueQueue; free: () => number }> {
    const overHalf: DueQueue[] = [];
    for (const queue of this.#queues.values()) {
      const { tenantId, webhookUrl, isActive } = queue;
      const free = () => this.#slots.freeToClaim(webhookUrl, this.#slots.freeSlotsOfTenant(tenantId));
      if (!isActive) {
        yield { queue, free: () => STOP_SIZE }; // The deliveries of a revoked credential are stopped and not sent, so they need no slot.
      } else if (this.#slots.freeSlotsOfTenant(tenantId) === 0) {
        overHalf.push(queue);
      } else if (free() > 0) {
        yield { queue, free };
      }
    }
    for (const queue of overHalf) {
      const free = () => this.#slots.freeToClaim(queue.webhookUrl);
      if (free() > 0) {
        yield { queue, free };
      }
    }
  }

  /**
   * Returns the slot that was reserved for the delivery. If the webhook URL of the credential has changed since the reservation, takes a
   * slot for the new URL.
   */
  #slotFor({ tenantId, credentialId, webhookUrl }: ClaimedDelivery, slotsOf: Map<string, Slot[]>): Slot {
    const slots = slotsOf.get(credentialId) ?? [];
    const reserved = slots.at(-1)?.url === webhookUrl ? slots.pop() : undefined;
    return reserved ?? this.#slots.take(tenantId, webhookUrl);
  }
}

function firstOf<T>(items: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    first.push(item);
    if (first.length === count) {
      break;
    }
  }
  return first;
}
