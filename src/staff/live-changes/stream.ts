import type { ServerResponse } from 'node:http';
import type { Staff } from '#access/tenants/tenants.ts';
import type { LiveChange } from './schema.ts';
import { hears, type Topic, TOPICS } from './topics.ts';

export const BOUNDS = {
  ofCaller: 20,
  ofTenant: 200,
  ofProcess: 2_000,
  /** Time between two keep-alive messages, which is shorter than proxies keep a connection without traffic. */
  beatEveryMs: 10_000,
  undrainedMs: 30_000,
  /** Time after which a stream ends. Its client then connects again, perhaps to another process. */
  longestMs: 30 * 60_000,
  checkEveryMs: 1_000,
};
export type StreamBounds = typeof BOUNDS;

/** Bounds of the wait before a client of a stopping process connects again. The wait is random, so that not all clients come together. */
const SHORTEST_RETURN_MS = 300;
const LONGEST_RETURN_MS = 3_000;

/**
 * Stream of events (WHATWG HTML §9.2) of one caller. While its client does not read, at most one message is under way, and all hints are
 * merged into the next one, so a slow client needs little memory.
 */
export class LiveStream {
  readonly staff: Staff;
  readonly #response: ServerResponse;
  readonly #topics = new Set<Topic>();
  #isResync = false;
  readonly #openedAtMs = performance.now();
  #beatAtMs = 0;
  /** Time of the write under way, or null if the operating system has taken all bytes. */
  #writingSinceMs: number | null = null;

  constructor(staff: Staff, response: ServerResponse) {
    this.staff = staff;
    this.#response = response;
    response.on('error', () => response.destroy());
    this.#beat(this.#openedAtMs);
  }

  /** Leaves out topics that the caller may not read. */
  tell(topics: readonly Topic[]): void {
    topics.filter((topic) => hears(this.staff, topic)).forEach((topic) => this.#topics.add(topic));
    this.#sayNext();
  }

  /** Tells the client to read all data again, because changes may be missing. */
  resync(): void {
    this.#isResync = true;
    this.#sayNext();
  }

  /** Asks the client to connect again after a random wait, and ends the stream. */
  sayBye(): void {
    const retryMs = Math.round(SHORTEST_RETURN_MS + Math.random() * (LONGEST_RETURN_MS - SHORTEST_RETURN_MS));
    this.end(`retry: ${retryMs}\nevent: bye\ndata: {}\n\n`);
  }

  end(text = ''): void {
    if (!this.#hasEnded) {
      this.#response.end(text);
    }
  }

  /** Ends the stream if its time is over or its client does not read. Otherwise says regularly that it is alive. */
  check({ beatEveryMs, undrainedMs, longestMs }: StreamBounds): void {
    const nowMs = performance.now();
    if (this.#writingSinceMs !== null) {
      if (nowMs - this.#writingSinceMs > undrainedMs) {
        this.#response.destroy();
      }
    } else if (nowMs - this.#openedAtMs > longestMs) {
      this.end();
    } else if (nowMs - this.#beatAtMs >= beatEveryMs && !this.#hasEnded) {
      this.#beat(nowMs);
    }
  }

  get #hasEnded(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  #sayNext(): void {
    const topics = TOPICS.filter((topic) => this.#topics.has(topic));
    if (this.#writingSinceMs !== null || this.#hasEnded || (topics.length === 0 && !this.#isResync)) {
      return;
    }
    const change: LiveChange = { topics };
    this.#write(this.#isResync ? 'event: resync\ndata: {}\n\n' : `event: change\ndata: ${JSON.stringify(change)}\n\n`);
    this.#topics.clear();
    this.#isResync = false;
  }

  #beat(nowMs: number): void {
    this.#beatAtMs = nowMs;
    this.#write(`: beat ${Date.now()}\n\n`);
  }

  #write(text: string): void {
    this.#writingSinceMs = performance.now();
    this.#response.write(text, (error) => {
      this.#writingSinceMs = null;
      if (!error) {
        this.#sayNext();
      }
    });
  }
}
