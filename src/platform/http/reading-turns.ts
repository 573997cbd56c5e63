import type { Readable } from 'node:stream';
import { isArriving } from '../lib/arrivals.ts';
import { FairQueues } from '../lib/fair-queues.ts';

/**
 * Number of streams that may each read one more chunk of 64 KiB in an iteration of the event loop. Two chunks take half a millisecond of
 * work. An iteration must be short, because Node accepts only one new connection from each listening socket in each iteration.
 */
const STREAMS_A_TURN = 2;

/**
 * Spreads the reading of large bodies over many iterations of the event loop, so that other requests run in between. If several tenants
 * have streams that wait, the tenants take turns.
 *
 * Without this class, Node would read in one iteration all data that has arrived on all connections. For example, 290 concurrent bodies of
 * 1 MiB delayed all other requests by a second.
 */
export class ReadingTurns {
  readonly #waiting = new FairQueues<Readable>();
  #isPlanned = false;

  /** Pauses the stream. Resumes it when the stream may read its next chunk. */
  wait(tenant: string, stream: Readable): void {
    stream.pause();
    this.#waiting.push(tenant, stream);
    this.#plan();
  }

  #plan(): void {
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      setImmediate(() => this.#resumeNext());
    }
  }

  #resumeNext(): void {
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
