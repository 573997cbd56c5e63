import type { Staff } from '#access/tenants/tenants.ts';
import type { EventStream, StreamSource } from '#platform/http/event-streams.ts';
import { type Fact, Hint } from './hint.ts';
import { topicsOf } from './topics.ts';

/** Times of the database in milliseconds of Unix time. */
export interface Clock {
  /** Moment of the latest look at the tenant. All changes before it have been told. */
  momentMs: () => number;
  nowMs: () => number;
}

/** One caller who watches a tenant: what its stream says next, and the stream, once it is open. */
export class Subscription implements StreamSource {
  readonly staff: Staff;
  readonly #hint: Hint;
  readonly #clock: Clock;
  readonly #onHint: () => void;
  #stream: EventStream | null = null;
  #hasEnded = false;

  /** @param onHint called for each hint that is sent */
  constructor(staff: Staff, clock: Clock, onHint: () => void) {
    this.staff = staff;
    this.#hint = new Hint(topicsOf(staff));
    this.#clock = clock;
    this.#onHint = onHint;
  }

  /** Sends what the subscription has to say over this stream from now on. */
  attach(stream: EventStream): void {
    this.#stream = stream;
    if (this.#hasEnded) {
      stream.end();
    }
  }

  tell(facts: Iterable<Fact>): void {
    for (const fact of facts) {
      this.#hint.add(fact);
    }
    this.#stream?.notify();
  }

  resync(): void {
    this.#hint.resync();
    this.#stream?.notify();
  }

  /** Ends the stream, because its caller has lost its access or has other rights now. */
  end(): void {
    this.#hasEnded = true;
    this.#stream?.end();
  }

  take(): string | null {
    const text = this.#hint.take(this.#clock.momentMs());
    if (text !== null) {
      this.#onHint();
    }
    return text;
  }

  /**
   * Returns a sign of life with the time of the database. It also moves the id forward, so that a client can go on after a long time without
   * changes. While a hint waits, the id stays, because the client has not heard of these changes.
   */
  beat(): string {
    const id = this.#hint.isEmpty ? `id: ${this.#clock.momentMs()}\n` : '';
    return `: beat ${Math.round(this.#clock.nowMs())}\n${id}\n`;
  }
}
