import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/database.ts';
import { notify } from '#platform/db/notifications.ts';
import { coalesce } from '#platform/lib/coalesce.ts';
import type { DueCredential, Wake } from '../events/events.ts';

/** PostgreSQL channel of the notifications that tell the delivery workers about new events. */
export const WAKE_UP_CHANNEL = 'roomservice_deliveries';
/** Wait after each notification, in milliseconds. Events that are committed during this wait share the next notification. */
const NOTIFY_EVERY_MS = 5;
/**
 * Maximum number of credentials in one notification. PostgreSQL allows less than 8,000 bytes for a notification. If more credentials have
 * events, the notification names no credential, and the workers search for due deliveries of all credentials.
 */
const MAX_NAMED = 100;

export type NamedQueue = Omit<DueCredential, 'webhookUrl'>;

/**
 * Returns the function by which a process without a worker notifies the workers of other processes. If a notification is lost, the workers
 * find the events at their next poll.
 */
export function createWakeUpSender(db: Database): Wake {
  let queues = new Map<string, NamedQueue>();
  const send = coalesce(async () => {
    await nextTurn(); // With this wait, events that are committed together share one notification.
    if (queues.size > 0) {
      const named = [...queues.values()];
      queues = new Map();
      await notify(db, WAKE_UP_CHANNEL, wakeUpOf(named)).catch(() => {});
      await sleep(NOTIFY_EVERY_MS);
    }
  });
  return (credentials) => {
    credentials.forEach((credential) => queues.set(credential.credentialId, credential));
    void send();
  };
}

function wakeUpOf(queues: NamedQueue[]): string {
  const named = queues.length > MAX_NAMED ? [] : queues;
  return named.map(({ tenantId, credentialId }) => `${tenantId}:${credentialId}`).join(' ');
}

/** Returns the credentials that a notification names. An empty list means that the worker must search for all due deliveries. */
export function readWakeUp(payload: string): NamedQueue[] {
  const named = payload.split(' ').map((text) => /^(\d{1,15}):([0-9a-f-]{36})$/.exec(text));
  return named.every((match) => match !== null)
    ? named.map(([, tenantId = '', credentialId = '']) => ({ tenantId: Number(tenantId), credentialId }))
    : [];
}
