import { type EventRow, readChanges, type StatusChange } from '../observer.ts';
import type { Invariant } from './invariant.ts';

/**
 * Invariant 4. Each transaction writes exactly one event for each status change in it. The event names the changed order or reservation and
 * its new status.
 */
export const eventsTellOfChanges: Invariant = {
  promise: '4 state and events agree',
  lookAt: 'src/webhooks/events/events.ts and its callers; the event must be in the transaction of its cause',
  async check({ postgres }, { events }) {
    const changes = await readChanges(postgres);
    const reported = countBy(events.map(eventIn));
    const happened = countBy(changes.map(eventOf));
    const unreported = [...happened].filter(([key, count]) => (reported.get(key) ?? 0) < count);
    const invented = [...reported].filter(([key, count]) => (happened.get(key) ?? 0) < count);
    return [
      ...unreported.map(([key]) => `a change without its event: ${key}`),
      ...invented.map(([key]) => `an event without its change: ${key}`),
    ];
  },
};

function eventOf({ source, subject, status, is_new, tx }: StatusChange): string {
  return `${eventType(source, status, is_new)} ${subject} to ${status} in transaction ${tx}`;
}

/** Returns the type of the event that a status change must cause (contract §6). */
function eventType(source: StatusChange['source'], status: string, isNew: boolean): string {
  if (source === 'restaurant_order') {
    return 'order.status_changed';
  }
  if (isNew) {
    return 'reservation.created';
  }
  return status === 'cancelled' ? 'reservation.cancelled' : 'reservation.modified';
}

interface ReportedChange {
  event?: string;
  data?: { order_id?: string; reservation_id?: string; status?: string };
}

function eventIn({ id, body, tx }: EventRow): string {
  if (body === null) {
    return `event ${id}, which is missing in the database, in transaction ${tx}`;
  }
  const { event, data } = parse(body);
  return `${event} ${data?.order_id ?? data?.reservation_id} to ${data?.status} in transaction ${tx}`;
}

function parse(body: string): ReportedChange {
  try {
    return JSON.parse(body) as ReportedChange;
  } catch {
    return {};
  }
}

function countBy(keys: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
