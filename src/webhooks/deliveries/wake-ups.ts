import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/database.ts';
import { notify } from '#platform/db/notifications.ts';
import { coalesce } from '#platform/lib/coalesce.ts';
import type { DueCredential, Wake } from '../events/events.ts';

export const WAKE_UP_CHANNEL = 'roomservice_deliveries';
/** Wait after each notification, in milliseconds. Events that are committed during this wait share the next notification. */
const NOTIFY_EVERY_MS = 5;
/** Bytes below which PostgreSQL allows a notification. A longer one is sent empty, so that the workers search for all due deliveries. */
const TOO_LONG = 8_000;

/** For a process without a worker. */
export function createWakeUpSender(db: Database): Wake {
  let due = new Map<string, DueCredential>();
  const send = coalesce(async () => {
    await nextTurn(); // With this wait, events that are committed together share one notification.
    if (due.size > 0) {
      const payload = wakeUpOf([...due.values()]);
      due = new Map();
      await notify(db, WAKE_UP_CHANNEL, payload).catch(() => {});
      await sleep(NOTIFY_EVERY_MS);
    }
  });
  return (credentials) => {
    credentials.forEach((credential) => due.set(credential.credentialId, credential));
    void send();
  };
}

/** A webhook URL has neither spaces nor line feeds. */
function wakeUpOf(due: DueCredential[]): string {
  const payload = due.map((each) => `${each.tenantId} ${each.credentialId} ${each.webhookUrl}`).join('\n');
  return Buffer.byteLength(payload) < TOO_LONG ? payload : '';
}

/** Returns the credentials that a notification names. An empty list means that the worker must search for all due deliveries. */
export function readWakeUp(payload: string): DueCredential[] {
  const named = payload.split('\n').map((line) => /^(\d{1,15}) ([0-9a-f-]{36}) (\S+)$/.exec(line));
  return named.every((match) => match !== null)
    ? named.map(([, tenantId, credentialId = '', webhookUrl = '']) => ({
        tenantId: Number(tenantId),
        credentialId,
        webhookUrl,
      }))
    : [];
}
