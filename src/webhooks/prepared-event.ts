import type { Tx } from '../db/database.ts';
import { newId } from '../lib/ids.ts';
import { hasEvent, insertEvent, type NewEvent, type Target } from './delivery-store.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { EventType } from './event-types.ts';

/** What happened, to be told to the partner whose order or reservation it is. */
export interface Happening {
  tenantId: number;
  credentialId: string;
  type: EventType;
  occurredAt: Date;
  /** Identifiers and the new status, nothing more (contract §6). */
  data: Record<string, string>;
}

/** The deliveries of this process, where it has some. */
export type LocalDelivery = Pick<DeliveryWorker, 'offerLease' | 'begin' | 'wake'>;

/**
 * One event of a transaction, prepared before it: its id stays the same when the transaction runs a second time after a lost
 * answer.
 */
export class PreparedEvent {
  readonly #id = newId();
  /** Null in a process that sends nothing: other processes find its events. */
  readonly #deliveries: LocalDelivery | null;
  #afterCommit = () => {};

  constructor(deliveries: LocalDelivery | null) {
    this.#deliveries = deliveries;
  }

  /** Writes the event in the transaction of its cause: both are there or neither is (decision 32). */
  async record(tx: Tx, happening: Happening): Promise<void> {
    const event = this.draft(happening, 0);
    const target = await insertEvent(tx, event);
    this.written(event, target);
  }

  /**
   * The row to be written, claimed from the start where this process has a slot for it.
   * @param ahead of it in the same transaction, of the same credential
   */
  draft({ type, occurredAt, data, ...whose }: Happening, ahead: number): NewEvent {
    const id = this.#id;
    const body = JSON.stringify({ event: type, event_id: id, occurred_at: occurredAt.toISOString(), data });
    const lease = this.#deliveries?.offerLease(whose, ahead) ?? null;
    return { ...whose, id, type, body, createdAt: occurredAt, lease };
  }

  /** @param target where it goes; null where it is not delivered */
  written({ lease, ...event }: NewEvent, target: Target | null): void {
    this.#afterCommit = () => {};
    if (target !== null && lease !== null) {
      const delivery = { ...event, ...target, eventId: event.id, attempt: 1, lease, waitedSeconds: 0 };
      this.#afterCommit = () => this.#deliveries?.begin(delivery);
    } else if (target !== null) {
      const { tenantId, credentialId } = event;
      const queue = { tenantId, credentialId, webhookUrl: target.webhookUrl, isActive: true };
      this.#afterCommit = () => this.#deliveries?.wake(queue);
    }
  }

  /** Whether the event is there already: then its cause has happened, and only the answer to the COMMIT was lost. */
  isRecorded(tx: Tx, tenantId: number): Promise<boolean> {
    return hasEvent(tx, tenantId, this.#id);
  }

  /** To be called once the transaction is committed: delivery begins now. */
  committed(): void {
    this.#afterCommit();
  }
}
