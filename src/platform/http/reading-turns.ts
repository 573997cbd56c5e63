import type { Readable } from 'node:stream';
import { isArriving } from '../lib/arrivals.ts';
import { FairQueues } from '../lib/fair-queues.ts';

/**
 * Number of streams that may read one more chunk of 64 KiB in each iteration of the event loop. Two chunks take half a millisecond of work.
 * In each iteration, Node accepts only one new connection from each listening socket, so long iterations would delay new connections.
 */
const STREAMS_A_TURN = 2;

/**
 * Spreads the reading of large bodies over many iterations of the event loop, so that other requests run in between. Without this class,
 * Node would read in one iteration all data that has arrived on all connections. For example, 290 concurrent bodies of 1 MiB delayed all
 * other requests by a second. Among the streams that wait, the tenants take turns.
 */
export class ReadingTurns {
  readonly #waiting = new FairQueues<Readable>();
  #isPlanned = false;

  /** Pauses the stream until it may read its next chunk. */
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
