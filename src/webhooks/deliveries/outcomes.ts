import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { type Share, sharesOf } from '#platform/db/inputs.ts';
import { type Outcome, recordOutcomes } from './store.ts';

/** Maximum number of outcomes that one statement records. */
const BATCH_SIZE = 500;

/**
 * Shortest time between the starts of two statements that record outcomes. Under load, each statement then records many outcomes, so
 * PostgreSQL needs less time for each outcome. The first outcome after a pause is recorded immediately.
 */
const RECORD_EVERY_MS = 20;

/** Outcome of an attempt that is not stored yet. The next statement stores it. */
interface Waiting {
  outcome: Outcome;
  settle: PromiseWithResolvers<boolean>;
}

/**
 * Records the outcomes of attempts in batches. While one statement runs, new outcomes wait, and the next statement records them together.
 */
export class OutcomeRecorder {
  readonly #db: Database;
  #waiting: Waiting[] = [];
  #isRecording = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Number of outcomes that still wait for a statement to record them. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /**
   * Records an outcome, and waits until it is committed.
   * @returns true if the outcome was recorded. False if another worker has claimed the delivery in the meantime.
   * @throws UnavailableError if the database cannot be reached. A worker then claims the delivery again after its lease has ended.
   */
  record(outcome: Outcome): Promise<boolean> {
    const settle = Promise.withResolvers<boolean>();
    this.#waiting.push({ outcome, settle });
    if (!this.#isRecording) {
      void this.#recordAll();
    }
    return settle.promise;
  }

  async #recordAll(): Promise<void> {
    this.#isRecording = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_SIZE).sort(byKey);
      const shares = sharesOf(this.#db, batch, ({ outcome }) => outcome.delivery.tenantId);
      await Promise.all([...shares.map((share) => this.#recordShare(share)), sleep(RECORD_EVERY_MS)]);
    }
    this.#isRecording = false;
  }

  /**
   * Records a share, which is a part of the outcomes, with one statement. The outcomes are sorted by the key of the event. All statements
   * lock deliveries in the order of this key, so that they cannot deadlock. On a cluster, a share has the outcomes of one tenant. So if a
   * node is down, the outcomes of tenants on other nodes are still recorded.
   */
  async #recordShare({ inputs }: Share<Waiting>): Promise<void> {
    const outcomes = inputs.map(({ outcome }) => outcome);
    try {
      const recorded = await withRetries(() => recordOutcomes(this.#db, outcomes));
      inputs.forEach(({ outcome, settle }) => settle.resolve(recorded.has(outcome.delivery.eventId)));
    } catch (error) {
      inputs.forEach(({ settle }) => settle.reject(error));
    }
  }
}

function byKey({ outcome: { delivery: a } }: Waiting, { outcome: { delivery: b } }: Waiting): number {
  return a.tenantId - b.tenantId || (a.eventId < b.eventId ? -1 : 1);
}
