import type { Fact } from './hint.ts';
import { type LookRow, MAX_ROWS } from './store.ts';
import { topicOfAction } from './topics.ts';

/**
 * Time in milliseconds for which a change stays in memory after the last read that has found its row. A read finds only rows that are at
 * most one minute old. So two reads can find the same row only within one minute, while its change is still in memory. The second read then
 * does not take the row for a new change.
 */
const KEPT_MS = 90_000;
/** Largest number of changes in memory. If a tenant has more changes, its clients must read all data again. */
const MAX_FACTS = 10_000;

/** Change that a look (a read of the newest rows) has found. */
interface Known {
  fact: Fact;
  /** Times of the first and of the latest read that have shown the row, in milliseconds of Unix time. */
  firstMs: number;
  latestMs: number;
}

/**
 * Remembers which changes of a tenant are already known. A look is one read of the newest rows of the tenant. It also reads older rows
 * again, so most rows appear in several looks, and only the first appearance of a row is a new change.
 */
export class LookMemory {
  readonly #known = new Map<string, Known>();
  /** Start of the period for which all committed changes are in memory, in milliseconds of Unix time. Null before the first look. */
  #completeFromMs: number | null = null;
  #momentMs = 0;

  /** Time of the latest read of the newest rows, in milliseconds of Unix time by the clock of the database. */
  get momentMs(): number {
    return this.#momentMs;
  }

  /**
   * Stores the rows of a look, which is a read of the newest rows. Returns the changes that no earlier look has shown, or null if the look
   * may have missed changes. Returns an empty list for the first look.
   * @param backMs age of the oldest rows that the look reads, in milliseconds
   */
  remember(row: LookRow, backMs: number): Fact[] | null {
    const { momentMs } = row;
    const lists = factsOf(row);
    const isFirst = this.#completeFromMs === null;
    // Each list begins with its newest row. A list with MAX_ROWS rows is full, so the look may have left out older rows. There are two
    // cases:
    // - An earlier look has found the last (oldest) row of the list. That look has also read the older rows, or has reported that changes
    //   may be missing. So this look does not report it again.
    // - No earlier look has found the last row. So this look reports that changes may be missing.
    const isCut = lists.some((list) => list.length >= MAX_ROWS && !this.#known.has(list.at(-1)?.[0] ?? ''));
    const isLate = !isFirst && momentMs - this.#momentMs > backMs;
    const found = lists.flat().flatMap(([key, fact]) => (this.#note(key, fact, momentMs) ? [fact] : []));
    this.#momentMs = momentMs;
    if (isFirst) {
      this.#completeFromMs = isCut ? momentMs : momentMs - backMs / 2;
      return [];
    }
    const isLost = isCut || isLate || this.#forget(momentMs);
    this.#completeFromMs = isLost ? momentMs : this.#completeFromMs;
    return isLost ? null : found;
  }

  /** Returns the changes that were committed after `momentMs`. Returns null if the memory does not have all changes since this time. */
  since(momentMs: number): Fact[] | null {
    if (this.#completeFromMs === null || momentMs < this.#completeFromMs) {
      return null;
    }
    return [...this.#known.values()].flatMap(({ fact, firstMs }) => (firstMs > momentMs ? [fact] : []));
  }

  /** Stores one of the newest rows. @returns true if no earlier read has shown this row */
  #note(key: string, fact: Fact, momentMs: number): boolean {
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.latestMs = momentMs;
      return false;
    }
    this.#known.set(key, { fact, firstMs: momentMs, latestMs: momentMs });
    return true;
  }

  /** Removes old changes. @returns true if it also had to remove newer changes, because the memory was full */
  #forget(momentMs: number): boolean {
    for (const [key, { latestMs }] of this.#known) {
      if (momentMs - latestMs > KEPT_MS) {
        this.#known.delete(key);
      }
    }
    const isFull = this.#known.size > MAX_FACTS;
    for (const [key, { latestMs }] of isFull ? this.#known : []) {
      // Keeps each change whose row appeared in the latest read, because the next read will show this row again.
      if (latestMs < momentMs) {
        this.#known.delete(key);
      }
    }
    return isFull;
  }
}

type Keyed = [key: string, fact: Fact];

/** Converts each list of newest rows to a list of changes, newest first. The key of a change identifies its row in later reads. */
function factsOf(row: LookRow): Keyed[][] {
  const { eventOrderIds, auditActions, reservationTimes } = row;
  return [
    (row.orderIds ?? []).map((id): Keyed => [`order ${id}`, { topics: ['orders'], orderId: id }]),
    (row.eventIds ?? []).map((id, index): Keyed => [`event ${id}`, eventFact(eventOrderIds?.[index] ?? null)]),
    (row.auditIds ?? []).map((id, index): Keyed => {
      const topic = topicOfAction(auditActions?.[index] ?? '');
      return [`audit ${id}`, { topics: topic === null ? [] : [topic] }];
    }),
    (row.reservationIds ?? []).map((id, index): Keyed => {
      const fact: Fact = { topics: ['reservations'], reservationId: id };
      return [`reservation ${id} ${reservationTimes?.[index]}`, fact];
    }),
  ];
}

/**
 * Returns the change that a new event reports. Each new event changes the list of events (topic `events`). A look (a read of the newest
 * rows) finds only new orders in the table of orders, so an event of an order also reports that this order has changed. An event of a
 * reservation does not report its reservation, because a look finds changed reservations in the table of reservations.
 */
function eventFact(orderId: string | null): Fact {
  return orderId === null ? { topics: ['events'] } : { topics: ['orders', 'events'], orderId };
}
