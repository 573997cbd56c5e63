import type { Staff } from '#access/tenants/tenants.ts';
import type { EventStream, StreamSource } from '#platform/http/event-streams.ts';
import { type Fact, Hint } from './hint.ts';
import { topicsOf } from './topics.ts';

/** Clock of the database. All times are in milliseconds of Unix time. */
export interface Clock {
  /** Time of the latest read of the tenant's newest rows. The hints already have all changes from before this time. */
  momentMs: () => number;
  /** Present time. */
  nowMs: () => number;
}

/**
 * Live changes for one caller who watches a tenant. Collects the next hint, and sends the hint over the caller's stream when the stream is
 * open.
 */
export class Subscription implements StreamSource {
  readonly staff: Staff;
  readonly #hint: Hint;
  readonly #clock: Clock;
  readonly #onHint: () => void;
  #stream: EventStream | null = null;
  #hasEnded = false;

  /** @param onHint called for each hint that the stream sends */
  constructor(staff: Staff, clock: Clock, onHint: () => void) {
    this.staff = staff;
    this.#hint = new Hint(topicsOf(staff));
    this.#clock = clock;
    this.#onHint = onHint;
  }

  /** Sends all hints over this stream from now on. If the subscription has already ended, ends the stream. */
  attach(stream: EventStream): void {
    this.#stream = stream;
    if (this.#hasEnded) {
      stream.end();
    }
  }

  /** Adds changes to the next hint. */
  tell(facts: Iterable<Fact>): void {
    for (const fact of facts) {
      this.#hint.add(fact);
    }
    this.#stream?.notify();
  }

  /** Tells the client to read all data again. */
  resync(): void {
    this.#hint.resync();
    this.#stream?.notify();
  }

  /** Ends the stream, because the caller has lost its access or its rights have changed. */
  end(): void {
    this.#hasEnded = true;
    this.#stream?.end();
  }

  /** Returns the next hint as the text of an event. Returns null if there is no hint. */
  take(): string | null {
    const text = this.#hint.take(this.#clock.momentMs());
    if (text !== null) {
      this.#onHint();
    }
    return text;
  }

  /**
   * Returns the comment that is sent regularly, so that the client sees that the stream works. The comment has the present time of the
   * database. Its `id` is the time of the latest read of the tenant's newest rows. A client sends its last id when it opens a new stream.
   * With the id of a comment, it can continue even after a long time without changes. If a hint waits to be sent, the comment has no id,
   * because the client does not know the changes of the hint yet.
   */
  beat(): string {
    const id = this.#hint.isEmpty ? `id: ${this.#clock.momentMs()}\n` : '';
    return `: beat ${Math.round(this.#clock.nowMs())}\n${id}\n`;
  }
}
