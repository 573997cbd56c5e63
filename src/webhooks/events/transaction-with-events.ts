import type { Database, Tx } from '#platform/db/database.ts';
import { isUniqueViolation, withRetries } from '#platform/db/failures.ts';
import { runTransaction } from '#platform/db/transaction.ts';
import { newIdAt } from '#platform/lib/ids.ts';
import { Tally } from '#platform/lib/tally.ts';
import type { EventType } from './event-types.ts';
import type { LocalDelivery, Target } from './local-delivery.ts';
import type { EventSubject } from './schema.ts';
import { insertEvents, type NewEvent } from './store.ts';

/** Event about an order or a reservation. The event is for the partner that created this order or reservation. */
export interface EventInput {
  tenantId: number;
  credentialId: string;
  type: EventType;
  /**
   * Time of the change. If the row of the order or the reservation existed before, make the time after the row was locked, and later than
   * the time of its previous change (`timeAfter`). The id of the event has the same time, and the feed sorts by the id. So the feed lists
   * the events of an order or a reservation in the order of their changes.
   */
  occurredAt: Date;
  /** Identifiers and the new status, and no other field (contract §6). */
  data: Record<string, string>;
  /** Order or reservation that the event reports. The delivery list of the staff API shows it. */
  subject: EventSubject;
}

/**
 * Writes events in the same transaction as the change that they report. So either the change and its events are committed, or the change
 * and its events are rolled back (decision 32).
 */
export type RecordEvents = (...inputs: EventInput[]) => Promise<void>;

/**
 * Runs `work` in a transaction and commits it. After the commit, the events that `work` recorded are delivered.
 *
 * After a temporary failure, `work` runs again, as with `inTransaction`. But if the response to a COMMIT is lost, the database may have
 * committed the transaction. A second run of `work` would then find the changes of the first run. So the function first checks if the
 * transaction was committed. If it was committed, the function returns the result of the first run.
 * @throws UnavailableError if the database still cannot be reached after the retries
 */
export type TransactionWithEvents = <T>(work: (tx: Tx, record: RecordEvents) => Promise<T>) => Promise<T>;

/**
 * Creates the function that runs transactions with events.
 * @param deliveries delivery worker of this process; null: this process sends no events, and the workers of other processes send its events
 */
export function createTransactionWithEvents(db: Database, deliveries: LocalDelivery | null): TransactionWithEvents {
  return async <T>(work: (tx: Tx, record: RecordEvents) => Promise<T>) => {
    // Result and events of the last complete run of `work`. The database may have committed this run although the COMMIT failed with an
    // error. Null: no run was complete.
    let sentToCommit: { result: T; events: RecordedEvents } | null = null;
    const { result, events } = await withRetries(async () => {
      if (sentToCommit !== null && (await isCommitted(db, sentToCommit.events))) {
        return sentToCommit;
      }
      return await runTransaction(db, async (tx) => {
        const recorded = new RecordedEvents(tx, deliveries);
        sentToCommit = { result: await work(tx, recorded.record), events: recorded };
        return sentToCommit;
      });
    });
    events.deliver();
    return result;
  };
}

/** Events that were recorded in one run of a transaction. */
class RecordedEvents {
  readonly #tx: Tx;
  readonly #deliveries: LocalDelivery | null;
  readonly #written: { event: NewEvent; target: Target | null }[] = [];
  /** Number of recorded events, by credential id. */
  readonly #countOf = new Tally<string>();

  constructor(tx: Tx, deliveries: LocalDelivery | null) {
    this.#tx = tx;
    this.#deliveries = deliveries;
  }

  get first(): NewEvent | undefined {
    return this.#written[0]?.event;
  }

  readonly record: RecordEvents = async (...inputs) => {
    if (inputs.length === 0) {
      return;
    }
    const events = inputs.map((eventInput) => this.#draft(eventInput));
    const targets = await insertEvents(this.#tx, events);
    this.#written.push(...events.map((event) => ({ event, target: targets.get(event.id) ?? null })));
  };

  /** Returns the event to insert. If the worker of this process can send the event now, the event has a lease. */
  #draft({ type, occurredAt, data, subject, ...credential }: EventInput): NewEvent {
    const id = newIdAt(occurredAt);
    const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
    const lease = this.#deliveries?.offerLease(credential, this.#countOf.of(credential.credentialId)) ?? null;
    this.#countOf.add(credential.credentialId, 1);
    return { ...credential, id, type, body, createdAt: occurredAt, subject, lease };
  }

  /** Begins the deliveries of the recorded events. Call this method after the commit. */
  deliver(): void {
    for (const { event, target } of this.#written) {
      if (target !== null) {
        this.#deliverTo(target, event);
      }
    }
  }

  #deliverTo(target: Target, { lease, ...event }: NewEvent): void {
    if (lease === null) {
      const { tenantId, credentialId } = event;
      this.#deliveries?.wake({ tenantId, credentialId, webhookUrl: target.webhookUrl, isActive: true });
    } else {
      const { tenantId, id: eventId, credentialId, body, createdAt } = event;
      const of = { tenantId, eventId, credentialId, body, createdAtMs: createdAt.getTime() };
      this.#deliveries?.begin({ ...of, ...target, attempt: 1, lease, waitedSeconds: 0 });
    }
  }
}

/**
 * Returns true if a transaction was committed although the response to its COMMIT was lost. To check this, the function inserts the first
 * event of the transaction again, and then rolls back. If the transaction is still open, the INSERT waits until the transaction ends. If
 * the transaction was committed, the INSERT violates the primary key. If the transaction recorded no event, the function cannot check and
 * returns false.
 */
async function isCommitted(db: Database, { first }: RecordedEvents): Promise<boolean> {
  if (first === undefined) {
    return false;
  }
  try {
    return await runTransaction(db, async (tx) => {
      await insertEvents(tx, [first]);
      throw NOT_COMMITTED;
    });
  } catch (error) {
    if (error === NOT_COMMITTED) {
      return false;
    }
    if (isUniqueViolation(error)) {
      return true;
    }
    throw error;
  }
}

const NOT_COMMITTED = new Error(
  'The first transaction, whose COMMIT had no response, was not committed. ' +
    'This error only rolls back the second transaction, which checked the first one.',
);
