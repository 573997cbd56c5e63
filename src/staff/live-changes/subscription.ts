import type { Staff } from '#access/tenants/tenants.ts';
import type { EventStream } from '#platform/http/event-streams.ts';
import type { LiveChange } from './schema.ts';
import { hears, type Topic, TOPICS } from './topics.ts';

/**
 * Caller who watches a tenant, and the next message of its stream. Hints are merged until the client takes them, so a slow client needs
 * little memory.
 */
export class Subscription {
  readonly staff: Staff;
  readonly #stream: EventStream;
  readonly #topics = new Set<Topic>();
  #isResync = false;

  /** @param open opens the stream, which takes its events from the given function */
  constructor(staff: Staff, open: (take: () => string | null) => EventStream) {
    this.staff = staff;
    this.#stream = open(() => this.#take());
  }

  /** Leaves out topics that the caller may not read. */
  tell(topics: readonly Topic[]): void {
    topics.filter((topic) => hears(this.staff, topic)).forEach((topic) => this.#topics.add(topic));
    this.#stream.notify();
  }

  resync(): void {
    this.#isResync = true;
    this.#stream.notify();
  }

  end(): void {
    this.#stream.end();
  }

  #take(): string | null {
    const topics = TOPICS.filter((topic) => this.#topics.has(topic));
    const isResync = this.#isResync;
    this.#topics.clear();
    this.#isResync = false;
    if (isResync) {
      return 'event: resync\ndata: {}\n\n';
    }
    const change: LiveChange = { topics };
    return topics.length === 0 ? null : `event: change\ndata: ${JSON.stringify(change)}\n\n`;
  }
}
