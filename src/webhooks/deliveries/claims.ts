import type { Database } from '#platform/db/database.ts';
import { Tally } from '#platform/lib/tally.ts';
import type { ClaimedDelivery, DueQueue, Lease } from '../events/events.ts';
import type { SendingSlots, Slot } from './sending-slots.ts';
import { CLAIM_SIZE, claimDue, findDueQueues } from './store.ts';

/** Of what a claim takes, what one revoked credential takes: its deliveries are stopped in the turn of all, too. */
const STOP_SIZE = 20;
/** Credentials with due deliveries that are kept in mind; the scan goes on behind them once there is room. */
const MAX_QUEUES = 5_000;
/** Of those, what the scan adds of one tenant: there is a place for the others in any case. */
const MAX_QUEUES_OF_TENANT = MAX_QUEUES / 2;

export interface Claim {
  delivery: ClaimedDelivery;
  slot: Slot;
}

/** What is taken of one credential, and the slots it goes to. */
interface Reservation {
  queue: DueQueue;
  count: number;
  slots: Slot[];
}

/**
 * Takes due deliveries from the database, for the slots that are free. It knows which credentials have some, never which
 * deliveries: a backlog of a million is as small here as one of ten.
 */
export class Claims {
  readonly #db: Database;
  readonly #slots: SendingSlots;
  readonly #newLease: () => Lease;
  /** By credential; whose turn it is comes first. */
  readonly #queues = new Map<string, DueQueue>();
  /** How many of them there are, by tenant. */
  readonly #queuesOf = new Tally<number>();
  #scanAfter: DueQueue | null = null;
  /** Receivers without room whose queues are left to later scans, because there are so many. */
  readonly #passedOver = new Set<string>();

  constructor(db: Database, slots: SendingSlots, newLease: () => Lease) {
    this.#db = db;
    this.#slots = slots;
    this.#newLease = newLease;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Whether any other tenant has deliveries that wait here. */
  hasOthersThan(tenantId: number): boolean {
    return this.#queues.size > this.#queuesOf.of(tenantId);
  }

  add(queue: DueQueue): void {
    if (!this.#queues.has(queue.credentialId)) {
      this.#queuesOf.add(queue.tenantId, 1);
    }
    this.#queues.set(queue.credentialId, queue); // One that stands in the line already keeps its place.
  }

  /** Looks for credentials with due deliveries: retries, those of processes that send nothing, those of the dead. */
  async scan(): Promise<void> {
    this.#makeWay();
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
   * Claims what has a slot, of each credential in its turn, in one statement.
   * @returns null where nothing has one; otherwise more may have one, even where nothing was left to be sent
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
          this.add(queue); // There may be more: it joins the line again.
        }
      }
      const slotsOf = new Map(reservations.map(({ queue, slots }) => [queue.credentialId, slots]));
      return deliveries.map((delivery) => ({ delivery, slot: this.#slotFor(delivery, slotsOf) }));
    } finally {
      reservations.forEach(({ slots }) => slots.forEach((slot) => this.#slots.release(slot)));
    }
  }

  /** Those that wait for slow receivers do not fill the line and hide others from the scan, which finds them once there is room. */
  #makeWay(): void {
    for (const url of this.#passedOver) {
      if (this.#slots.room(url) > 0) {
        this.#passedOver.delete(url);
      }
    }
    if (this.#queues.size < MAX_QUEUES / 2 || this.#slots.room() === 0) {
      return;
    }
    for (const queue of this.#queues.values()) {
      if (queue.isActive && this.#slots.room(queue.webhookUrl) === 0) {
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

  #reserve(): Reservation[] {
    const reservations: Reservation[] = [];
    let left = CLAIM_SIZE;
    for (const [queue, room] of this.#inTurn()) {
      const count = Math.min(left, room);
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
   * The line, each queue with what may be claimed of it now. A tenant that has half of all slots comes after the others, and takes
   * what they leave: no slot stays free that somebody can use.
   */
  *#inTurn(): Generator<[DueQueue, number]> {
    const beyondHalf: DueQueue[] = [];
    for (const queue of this.#queues.values()) {
      const roomOfTenant = this.#slots.roomOfTenant(queue.tenantId);
      if (!queue.isActive) {
        yield [queue, STOP_SIZE]; // What is only to be stopped needs no slot.
      } else if (roomOfTenant === 0) {
        beyondHalf.push(queue);
      } else {
        yield [queue, Math.min(roomOfTenant, this.#slots.room(queue.webhookUrl))];
      }
    }
    for (const queue of beyondHalf) {
      yield [queue, this.#slots.room(queue.webhookUrl)];
    }
  }

  /** The credential may have registered another URL since it was seen. */
  #slotFor({ tenantId, credentialId, webhookUrl }: ClaimedDelivery, slotsOf: Map<string, Slot[]>): Slot {
    const slots = slotsOf.get(credentialId) ?? [];
    const reserved = slots.at(-1)?.url === webhookUrl ? slots.pop() : undefined;
    return reserved ?? this.#slots.take(tenantId, webhookUrl);
  }
}
