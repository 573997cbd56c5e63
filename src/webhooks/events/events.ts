/** Events and their feed, written in the transaction of their cause. */
import type { Database, Tx } from '#platform/db/database.ts';
import { isUniqueViolation, withRetries } from '#platform/db/failures.ts';
import { runTransaction } from '#platform/db/transaction.ts';
import { newIdAt } from '#platform/lib/ids.ts';
import type { EventType } from './event-types.ts';
import type { EventSubject } from './schema.ts';
import { type DueCredential, insertEvents, type NewEvent } from './store.ts';

export { EVENTS } from './catalogue.ts';
export { EVENT_TYPES, type EventType } from './event-types.ts';
export { attemptsShape } from './feed.ts';
export {
  Attempt,
  attemptsOf,
  DELIVERY_STATUSES,
  DeliveryStatus,
  EventSubject,
  type FeedEntry,
  type FeedPage,
  SUCCESSFUL_ATTEMPT,
} from './schema.ts';
export type { DueCredential, StoredAttempts } from './store.ts';

/** The event is for the partner that created this order or reservation. */
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
  subject: EventSubject;
  /** New status of the order or the reservation. */
  status: string;
}

/** Writes events in the transaction of the change that they report, so that both are committed or none is (rule 32). */
export type RecordEvents = (...inputs: EventInput[]) => Promise<void>;

/**
 * Runs `work` in a transaction and commits it. After the commit, the events that `work` recorded are delivered.
 * After a temporary failure, `work` runs again, as with `inTransaction`. But if the response to a COMMIT is lost, a second run might find
 * the changes of the first. So the function first checks if the transaction was committed, and then returns the result of the first run.
 * @throws UnavailableError if the database still cannot be reached after the retries
 */
export type TransactionWithEvents = <T>(work: (tx: Tx, record: RecordEvents) => Promise<T>) => Promise<T>;

/** Tells the workers which credentials have due deliveries. It is called after each commit with events, and never throws. */
export type Wake = (credentials: DueCredential[]) => void;

/** @param wake null: no worker is told of the events, so the workers find them at their next poll */
export function createTransactionWithEvents(db: Database, wake: Wake | null): TransactionWithEvents {
  return async <T>(work: (tx: Tx, record: RecordEvents) => Promise<T>) => {
    // Last complete run of `work`, which the database may have committed although the COMMIT failed with an error.
    let sentToCommit: { result: T; events: NewEvent[]; due: DueCredential[] } | null = null;
    const run = await withRetries(async () => {
      if (sentToCommit !== null && (await isCommitted(db, sentToCommit.events))) {
        return sentToCommit;
      }
      return await runTransaction(db, async (tx) => {
        const events: NewEvent[] = [];
        const due: DueCredential[] = [];
        const record: RecordEvents = async (...inputs) => {
          if (inputs.length > 0) {
            const drafted = inputs.map(draft);
            due.push(...(await insertEvents(tx, drafted)));
            events.push(...drafted);
          }
        };
        sentToCommit = { result: await work(tx, record), events, due };
        return sentToCommit;
      });
    });
    if (run.due.length > 0) {
      wake?.(run.due);
    }
    return run.result;
  };
}

/** The body has identifiers and the new status, and no other field (contract §6). */
function draft({ type, occurredAt, subject, status, ...credential }: EventInput): NewEvent {
  const id = newIdAt(occurredAt);
  const kind = subject.type;
  const data = { [`${kind}_id`]: subject.id, [`external_${kind}_id`]: subject.external_id, status };
  const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
  return { ...credential, id, type, body, createdAt: occurredAt, subject: JSON.stringify(subject) };
}

/**
 * Returns true if a transaction was committed although the response to its COMMIT was lost. Inserts its first event again, and rolls back. If
 * the transaction is still open, the INSERT waits for its end. If it was committed, the INSERT violates the primary key.
 */
async function isCommitted(db: Database, [first]: NewEvent[]): Promise<boolean> {
  if (first === undefined) {
    return false;
  }
  try {
    return await runTransaction(db, async (tx) => {
      await insertEvents(tx, [first]);
      throw NOT_COMMITTED;
    });
  } catch (error) {
    if (error === NOT_COMMITTED || isUniqueViolation(error)) {
      return error !== NOT_COMMITTED;
    }
    throw error;
  }
}

const NOT_COMMITTED = new Error('The transaction is rolled back, because it only checks if another one was committed.');
