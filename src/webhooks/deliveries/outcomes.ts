import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { type Share, sharesOf } from '#platform/db/inputs.ts';
import { type Outcome, recordOutcomes } from './store.ts';

/** Maximum number of outcomes that one statement records. */
const BATCH_SIZE = 500;

/**
 * Shortest time from the begin of one statement to the begin of the next. Under load, a statement then records many outcomes, and PostgreSQL
 * needs less time for each of them. The first outcome after a pause is recorded immediately.
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

  /** Number of outcomes that no statement records yet. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /**
   * Records an outcome, and waits until it is committed.
   * @returns true if the outcome was recorded; false if another worker has claimed the delivery in the meantime
   * @throws UnavailableError if the database is out of reach. The delivery is then claimed again after its lease has ended.
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
   * Records the outcomes of one statement, sorted by the key of the event. All statements lock events in the order of this key, so that they
   * cannot deadlock. On a cluster, the share has one tenant, so a node that is down does not fail the outcomes of other tenants.
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
