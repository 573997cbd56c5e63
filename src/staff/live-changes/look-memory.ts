import type { Fact } from './hint.ts';
import { type LookRow, MAX_ROWS } from './store.ts';
import { topicOfAction } from './topics.ts';

/** Time for which a fact is kept after the last look that has shown it. It is longer than the time that any look goes back. */
const KEPT_MS = 90_000;
/** Largest number of facts in memory. A tenant with more of them is told to read everything again. */
const MAX_FACTS = 10_000;

interface Known {
  fact: Fact;
  /** Moments of the first and of the latest look that has shown the row. */
  firstMs: number;
  latestMs: number;
}

/** Facts that looks at a tenant have shown. A look goes back, so it shows most rows several times, and only the first time says something. */
export class LookMemory {
  readonly #known = new Map<string, Known>();
  /** The memory has all changes that were committed after this moment. Null before the first look. */
  #completeFromMs: number | null = null;
  #momentMs = 0;

  /** Moment of the latest look. */
  get momentMs(): number {
    return this.#momentMs;
  }

  /**
   * Returns the facts that the look shows for the first time, or null if there may be facts that the look does not show.
   * @param backMs time that the look goes back
   */
  remember(row: LookRow, backMs: number): Fact[] | null {
    const { momentMs } = row;
    const lists = factsOf(row);
    const isFirst = this.#completeFromMs === null;
    // A full list has all new rows only if it reaches back to a row that was known before.
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

  /** Returns the facts of changes that were committed after a moment. Returns null if the memory does not reach back so far. */
  since(momentMs: number): Fact[] | null {
    if (this.#completeFromMs === null || momentMs < this.#completeFromMs) {
      return null;
    }
    return [...this.#known.values()].flatMap(({ fact, firstMs }) => (firstMs > momentMs ? [fact] : []));
  }

  /** @returns true if the row was unknown */
  #note(key: string, fact: Fact, momentMs: number): boolean {
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.latestMs = momentMs;
      return false;
    }
    this.#known.set(key, { fact, firstMs: momentMs, latestMs: momentMs });
    return true;
  }

  /** Removes old facts. @returns true if newer ones had to go too */
  #forget(momentMs: number): boolean {
    for (const [key, { latestMs }] of this.#known) {
      if (momentMs - latestMs > KEPT_MS) {
        this.#known.delete(key);
      }
    }
    const isFull = this.#known.size > MAX_FACTS;
    for (const [key, { latestMs }] of isFull ? this.#known : []) {
      // The rows of this look stay, because the next look shows them again.
      if (latestMs < momentMs) {
        this.#known.delete(key);
      }
    }
    return isFull;
  }
}

type Keyed = [key: string, fact: Fact];

/** Returns the facts of each list of a look, newest first. */
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

/** The event of an order reports a change of the order. The changes of stays are found without their events. */
function eventFact(orderId: string | null): Fact {
  return orderId === null ? { topics: ['events'] } : { topics: ['orders', 'events'], orderId };
}
