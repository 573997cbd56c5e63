import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/database.ts';
import { notify } from '#platform/db/notifications.ts';
import type { DueQueue, LocalDelivery } from '../events/events.ts';

/** PostgreSQL channel of the notifications that tell the delivery workers about new events. */
export const WAKE_UP_CHANNEL = 'roomservice_deliveries';
/** Wait after each notification, in milliseconds. Events that are committed during this wait share the next notification. */
const NOTIFY_EVERY_MS = 5;
/**
 * Maximum number of credentials in one notification. PostgreSQL allows less than 8,000 bytes for a notification. If more credentials have
 * events, the notification names no credential, and the workers search for due deliveries of all credentials.
 */
const MAX_NAMED = 100;

/** Credential with a new event. */
export type NamedQueue = Pick<DueQueue, 'tenantId' | 'credentialId'>;

/**
 * Notifies the delivery workers of other processes about new events. A process that sends no deliveries itself uses this class. Each
 * notification covers all events since the previous notification. If a notification is lost, the workers find the events at their next
 * search of the database.
 */
export class WakeUpSender implements LocalDelivery {
  readonly #db: Database;
  /** Credentials with new events, by credential id. */
  #queues = new Map<string, NamedQueue>();
  #isSending = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Returns no lease for the delivery of a new event, because this process sends no deliveries. */
  offerLease(): null {
    return null;
  }

  /** Is never called, because `offerLease` offers no lease. */
  begin(): void {}

  wake({ tenantId, credentialId }: DueQueue): void {
    this.#queues.set(credentialId, { tenantId, credentialId });
    if (!this.#isSending) {
      void this.#sendAll();
    }
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#queues.size > 0) {
      await nextTurn(); // With this wait, events that are committed together share one notification.
      const queues = [...this.#queues.values()];
      this.#queues = new Map();
      // An error is ignored, because the workers also search the database regularly and then find the deliveries.
      await notify(this.#db, WAKE_UP_CHANNEL, wakeUpOf(queues)).catch(() => {});
      await sleep(NOTIFY_EVERY_MS);
    }
    this.#isSending = false;
  }
}

function wakeUpOf(queues: NamedQueue[]): string {
  const named = queues.length > MAX_NAMED ? [] : queues;
  return named.map(({ tenantId, credentialId }) => `${tenantId}:${credentialId}`).join(' ');
}

/**
 * Returns the credentials that a notification names. An empty list means that the notification names no credential. The worker must then
 * search the database for due deliveries of all credentials.
 */
export function readWakeUp(payload: string): NamedQueue[] {
  const named = payload.split(' ').map((text) => /^(\d{1,15}):([0-9a-f-]{36})$/.exec(text));
  return named.every((match) => match !== null)
    ? named.map(([, tenantId = '', credentialId = '']) => ({ tenantId: Number(tenantId), credentialId }))
    : [];
}
