import type { LiveChange } from './schema.ts';
import { type Topic, TOPICS } from './topics.ts';

/** Change that one database row shows: the kinds of data that changed, and the id of the changed order or reservation if there is one. */
export interface Fact {
  topics: readonly Topic[];
  orderId?: string;
  reservationId?: string;
}

/**
 * Largest number of ids in a hint. If more orders and reservations have changed, the client reads all data again, because this costs less
 * than reading so many orders and reservations by id.
 */
const MAX_IDS = 200;

/**
 * Next hint that one stream sends. A hint is a message that data has changed. New changes are added to the same hint until the client can
 * receive it, so a slow client needs little memory.
 */
export class Hint {
  readonly #heard: ReadonlySet<Topic>;
  readonly #topics = new Set<Topic>();
  readonly #orderIds = new Set<string>();
  readonly #reservationIds = new Set<string>();
  #isResync = false;

  /** @param heard topics (kinds of data) of which the caller gets hints. The hint leaves out other topics and their ids. */
  constructor(heard: ReadonlySet<Topic>) {
    this.#heard = heard;
  }

  /** True if there is no change to report. */
  get isEmpty(): boolean {
    return !this.#isResync && this.#topics.size === 0;
  }

  /** Adds a change to the hint. */
  add({ topics, orderId, reservationId }: Fact): void {
    topics.filter((topic) => this.#heard.has(topic)).forEach((topic) => this.#topics.add(topic));
    if (orderId !== undefined && this.#heard.has('orders')) {
      this.#orderIds.add(orderId);
    }
    if (reservationId !== undefined && this.#heard.has('reservations')) {
      this.#reservationIds.add(reservationId);
    }
    if (this.#orderIds.size + this.#reservationIds.size > MAX_IDS) {
      this.resync();
    }
  }

  /**
   * Turns the hint into a `resync` message, which tells the client to read all data again. The message replaces all changes in the hint.
   */
  resync(): void {
    this.#clear();
    this.#isResync = true;
  }

  /**
   * Returns the hint as the text of one event of an event stream, and then empties the hint. Returns null if the hint is empty.
   * @param momentMs time up to which all changes of the tenant have been added to the hints of this stream. The time becomes the id of the
   * event
   */
  take(momentMs: number): string | null {
    if (this.isEmpty) {
      return null;
    }
    const [event, data] = this.#isResync ? ['resync', {}] : ['change', this.#data()];
    this.#clear();
    return `id: ${momentMs}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #data(): LiveChange {
    return {
      topics: TOPICS.filter((topic) => this.#topics.has(topic)),
      order_ids: [...this.#orderIds],
      reservation_ids: [...this.#reservationIds],
    };
  }

  #clear(): void {
    this.#isResync = false;
    this.#topics.clear();
    this.#orderIds.clear();
    this.#reservationIds.clear();
  }
}
