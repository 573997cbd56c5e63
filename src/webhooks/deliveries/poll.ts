import type { DatabaseContact } from '#platform/db/contact.ts';
import type { Database } from '#platform/db/database.ts';
import { Bell } from './bell.ts';
import { findDue } from './poll-store.ts';
import type { DueQueue } from './search-store.ts';

export interface PollOptions {
  db: Database;
  /** Object that records when the database last answered this process. Each successful poll updates the time. */
  contact?: DatabaseContact | undefined;
  /** Longest wait between two polls in milliseconds. Each wait is shorter by up to a quarter, so that workers do not poll together. */
  everyMs: number;
  /** Returns how many queues a poll may find. */
  limit: () => number;
  onFound: (found: DueQueue[]) => void;
  onError: (error: unknown) => void;
}

/** Regular search for due deliveries of all processes: retries, lost notifications, and deliveries of workers that have died. */
export class Poll {
  readonly #options: PollOptions;
  readonly #bell = new Bell();
  readonly #running: Promise<void>;
  #isStopping = false;

  constructor(options: PollOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Polls without a further wait. */
  now(): void {
    this.#bell.ring();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.now();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { db, contact, everyMs, onFound, onError } = this.#options;
    let after: DueQueue | null = null;
    while (!this.#isStopping) {
      const limit = this.#options.limit();
      const begunAtMs = performance.now();
      try {
        const found: DueQueue[] = await findDue(db, after, limit);
        contact?.confirm(begunAtMs);
        after = found.length === limit ? (found.at(-1) ?? null) : null;
        onFound(found);
      } catch (error) {
        onError(error);
      }
      await this.#bell.wait(everyMs * (1 - Math.random() / 4));
    }
  }
}
