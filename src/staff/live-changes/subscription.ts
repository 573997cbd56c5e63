import type { Staff } from '#access/tenants/tenants.ts';
import type { EventStream, StreamSource } from '#platform/http/event-streams.ts';
import { type Fact, Hint } from './hint.ts';
import { topicsOf } from './topics.ts';

/** Clock of the database. All times are in milliseconds of Unix time. */
export interface Clock {
  /**
   * Time of the latest read of the tenant's newest rows. All changes from before this time are already in a hint. A hint is a message to
   * the client that data has changed.
   */
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

  /**
   * Returns the next hint (a message that data has changed) as the text of a server-sent event, and then empties the hint. Returns null if
   * there is no change to report.
   */
  take(): string | null {
    const text = this.#hint.take(this.#clock.momentMs());
    if (text !== null) {
      this.#onHint();
    }
    return text;
  }

  /**
   * Returns a comment of the event stream. The stream sends such a comment regularly, so that the client sees that the stream works. The
   * comment has the present time of the database.
   *
   * Usually the comment also has an `id`, which is the time of the latest read of the tenant's newest rows. When the client opens a new
   * stream, it sends its last id, and gets only the changes since the time in this id. So the comment has no id while a hint (a message
   * that data has changed) waits to be sent. With an id, the client could miss the changes of this hint.
   */
  beat(): string {
    const id = this.#hint.isEmpty ? `id: ${this.#clock.momentMs()}\n` : '';
    return `: beat ${Math.round(this.#clock.nowMs())}\n${id}\n`;
  }
}
