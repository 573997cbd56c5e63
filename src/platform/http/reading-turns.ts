import type { Readable } from 'node:stream';
import { isArriving } from '../lib/arrivals.ts';
import { FairLines } from '../lib/fair-lines.ts';

/**
 * Streams that may go on in one turn of the event loop, each by one chunk of 64 KiB: half a millisecond of work. Node accepts one new
 * connection a turn, so a long turn would hold up all that come after it.
 */
const STREAMS_A_TURN = 2;

/**
 * Spreads the reading of large bodies over the turns of the event loop. Node reads whatever has come on every connection: 290 bodies of
 * 1 MiB at once held everybody else up for a second. Tenants are read in turns.
 */
export class ReadingTurns {
  readonly #waiting = new FairLines<Readable>();
  #isPlanned = false;

  /** Pauses the stream until its turn comes. */
  wait(tenant: string, stream: Readable): void {
    stream.pause();
    this.#waiting.push(tenant, stream);
    this.#plan();
  }

  #plan(): void {
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      setImmediate(() => this.#goOn());
    }
  }

  #goOn(): void {
    this.#isPlanned = false;
    if (isArriving()) {
      this.#plan();
      return;
    }
    for (let count = 0; count < STREAMS_A_TURN; count += 1) {
      this.#waiting.shift()?.item.resume();
    }
    if (this.#waiting.size > 0) {
      this.#plan();
    }
  }
}
