import type { ServerResponse } from 'node:http';
import type { Staff } from '#access/tenants/tenants.ts';
import type { LiveChange } from './schema.ts';
import type { Look } from './store.ts';
import { type Source, topicsOf } from './topics.ts';

export const BOUNDS = {
  ofCaller: 20,
  ofTenant: 200,
  ofProcess: 2_000,
  /** Time between two keep-alive messages, which is shorter than proxies keep a connection without traffic. */
  beatEveryMs: 10_000,
  /** Time after which a stream ends. Its client then connects again, perhaps to another process. */
  longestMs: 30 * 60_000,
};
export type StreamBounds = typeof BOUNDS;

/** After a longer time, a look might not go back to all rows that are committed late. */
const MAX_GAP_MS = 30_000;

/** Stream of events (WHATWG HTML §9.2) of one caller. */
export class LiveStream {
  readonly staff: Staff;
  readonly #response: ServerResponse;
  readonly #endsAtMs: number;
  #look: Look = {};
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(staff: Staff, response: ServerResponse, longestMs: number) {
    this.staff = staff;
    this.#response = response;
    this.#endsAtMs = performance.now() + longestMs;
    response.on('error', () => response.destroy());
    this.beat();
  }

  /** Tells what has changed since the last look, or to read all data again if changes may be missing, as before the first look. */
  see(look: Look): void {
    const nowMs = performance.now();
    const gapMs = nowMs - this.#lookedAtMs;
    const keys = Object.keys(look).filter((key) => look[key] !== this.#look[key]);
    const topics = topicsOf(new Set(keys.map((key) => key.split(' ', 1)[0] as Source)), this.staff);
    this.#look = look;
    this.#lookedAtMs = nowMs;
    if (gapMs > MAX_GAP_MS) {
      this.#say('event: resync\ndata: {}\n\n');
    } else if (topics.length > 0) {
      this.#say(`event: change\ndata: ${JSON.stringify({ topics } satisfies LiveChange)}\n\n`);
    }
  }

  /** Says that the stream is alive, and ends it when its time is over. */
  beat(): void {
    this.#say(`: beat ${Date.now()}\n\n`);
    if (performance.now() > this.#endsAtMs) {
      this.end();
    }
  }

  /** Ends the stream. The wait of its client before it connects again is random, so that not all clients come together. */
  sayBye(): void {
    this.#say(`retry: ${Math.round(300 + Math.random() * 2_700)}\nevent: bye\ndata: {}\n\n`);
    this.end();
  }

  end(): void {
    this.#response.end();
  }

  /** Closes the connection of a client that does not read, before its unread hints take much memory. */
  #say(text: string): void {
    if (this.#response.writableNeedDrain) {
      this.#response.destroy();
    } else if (!this.#response.writableEnded) {
      this.#response.write(text);
    }
  }
}
