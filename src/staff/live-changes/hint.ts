import type { LiveChange } from './schema.ts';
import { type Topic, TOPICS } from './topics.ts';

/** What one changed row says. */
export interface Fact {
  topics: readonly Topic[];
  orderId?: string;
  reservationId?: string;
}

/** Largest number of ids in a hint. If there are more, reading all again costs less. */
const MAX_IDS = 200;

/**
 * What a stream says next. Facts are merged until the client has taken the earlier texts, so a stream holds a bounded amount of memory.
 */
export class Hint {
  readonly #heard: ReadonlySet<Topic>;
  readonly #topics = new Set<Topic>();
  readonly #orderIds = new Set<string>();
  readonly #reservationIds = new Set<string>();
  #isResync = false;

  /** @param heard topics of which the caller hears. Facts about other topics are left out, with their ids. */
  constructor(heard: ReadonlySet<Topic>) {
    this.#heard = heard;
  }

  get isEmpty(): boolean {
    return !this.#isResync && this.#topics.size === 0;
  }

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

  /** Says that the client must read everything again. This includes all facts so far. */
  resync(): void {
    this.#clear();
    this.#isResync = true;
  }

  /**
   * Returns the hint as a block of an event stream, and begins an empty one. Returns null if the hint is empty.
   * @param momentMs moment of the latest look, as the id of the block
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
