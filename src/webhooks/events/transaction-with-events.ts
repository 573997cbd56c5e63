import type { Database, Tx } from '#platform/db/database.ts';
import { isUniqueViolation, retrying } from '#platform/db/failures.ts';
import { runTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { Tally } from '#platform/lib/tally.ts';
import type { EventType } from './event-types.ts';
import type { LocalDelivery, Target } from './local-delivery.ts';
import { insertEvents, type NewEvent } from './store.ts';

/** What happened, to be told to the partner whose order or reservation it is. */
export interface EventInput {
  tenantId: number;
  credentialId: string;
  type: EventType;
  occurredAt: Date;
  /** Identifiers and the new status, nothing more (contract §6). */
  data: Record<string, string>;
}

/** Writes the events of inputs in the transaction of their cause: both are there or neither is (decision 32). */
export type RecordEvents = (...inputs: EventInput[]) => Promise<void>;

/**
 * Runs work in one transaction and owns its commit: the events that the work records are delivered once it is committed.
 *
 * As `inTransaction`, it runs the work again after a failure that passes. If the answer to a COMMIT is lost, it first finds out whether
 * the transaction was committed, and if so returns what the work had returned: the work never meets what it has done itself.
 * @throws UnavailableError when the database stays out of reach
 */
export type TransactionWithEvents = <T>(work: (tx: Tx, record: RecordEvents) => Promise<T>) => Promise<T>;

/** @param deliveries null in a process that sends nothing: other processes find its events */
export function createTransactionWithEvents(db: Database, deliveries: LocalDelivery | null): TransactionWithEvents {
  return async <T>(work: (tx: Tx, record: RecordEvents) => Promise<T>) => {
    let sentToCommit: { result: T; events: RecordedEvents } | null = null;
    const { result, events } = await retrying(async () => {
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

/** The events of one run of a transaction. */
class RecordedEvents {
  readonly #tx: Tx;
  readonly #deliveries: LocalDelivery | null;
  readonly #written: { event: NewEvent; target: Target | null }[] = [];
  /** How many of each credential there are, by its id. */
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

  /** The row to be written, claimed from the start if this process has a slot for it. */
  #draft({ type, occurredAt, data, ...whose }: EventInput): NewEvent {
    const id = newId();
    const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
    const lease = this.#deliveries?.offerLease(whose, this.#countOf.of(whose.credentialId)) ?? null;
    this.#countOf.add(whose.credentialId, 1);
    return { ...whose, id, type, body, createdAt: occurredAt, lease };
  }

  /** Begins the deliveries, once the transaction is committed. */
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
      this.#deliveries?.begin({ ...event, ...target, eventId: event.id, attempt: 1, lease, waitedSeconds: 0 });
    }
  }
}

/**
 * Whether a transaction was committed whose COMMIT had no answer. Its first event is written a second time and rolled back: the INSERT
 * waits if the transaction is still under way, and fails on the key if it was committed. Without an event nobody can tell.
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

const NOT_COMMITTED = new Error('the event was not there: the second one is rolled back');
