import type { Database } from '#platform/db/database.ts';
import { retrying } from '#platform/db/failures.ts';
import { type Outcome, recordOutcomes } from './store.ts';

const BATCH_SIZE = 500;

interface Waiting {
  outcome: Outcome;
  settle: PromiseWithResolvers<boolean>;
}

/** Writes down how attempts ended: what ends while one statement is under way goes into the next together. */
export class OutcomeRecorder {
  readonly #db: Database;
  #waiting: Waiting[] = [];
  #isRecording = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * @returns whether the lease was still ours, once the outcome is committed
   * @throws UnavailableError where it could not be recorded: then the lease's end repeats the attempt
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
      await this.#recordBatch(this.#waiting.splice(0, BATCH_SIZE));
    }
    this.#isRecording = false;
  }

  /** In the order of the keys, as every statement that locks several events. */
  async #recordBatch(batch: Waiting[]): Promise<void> {
    const outcomes = batch.map(({ outcome }) => outcome).sort(byKey);
    try {
      const recorded = await retrying(() => recordOutcomes(this.#db, outcomes));
      batch.forEach(({ outcome, settle }) => settle.resolve(recorded.has(outcome.delivery.eventId)));
    } catch (error) {
      batch.forEach(({ settle }) => settle.reject(error));
    }
  }
}

function byKey({ delivery: a }: Outcome, { delivery: b }: Outcome): number {
  return a.tenantId - b.tenantId || (a.eventId < b.eventId ? -1 : 1);
}
