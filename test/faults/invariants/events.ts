import { type EventRow, readChanges, type StatusChange } from '../observer.ts';
import type { Invariant } from './invariant.ts';

/** Invariant 4: in each transaction, as many events as changes of status, of the same things to the same statuses. */
export const eventsTellOfChanges: Invariant = {
  promise: '4 state and events agree',
  lookAt:
    'src/webhooks/events/transaction-with-events.ts, and who records in it: the event belongs into the transaction of its cause',
  async check({ postgres }, { events }) {
    const changes = await readChanges(postgres);
    const told = countBy(events.map(toldBy));
    const happened = countBy(changes.map(eventOf));
    const untold = [...happened].filter(([key, count]) => (told.get(key) ?? 0) < count);
    const invented = [...told].filter(([key, count]) => (happened.get(key) ?? 0) < count);
    return [
      ...untold.map(([key]) => `a change without its event: ${key}`),
      ...invented.map(([key]) => `an event without its change: ${key}`),
    ];
  },
};

function eventOf({ source, subject, status, is_new, tx }: StatusChange): string {
  return `${eventType(source, status, is_new)} ${subject} to ${status} in transaction ${tx}`;
}

/** Contract §6. */
function eventType(source: StatusChange['source'], status: string, isNew: boolean): string {
  if (source === 'restaurant_order') {
    return 'order.status_changed';
  }
  if (isNew) {
    return 'reservation.created';
  }
  return status === 'cancelled' ? 'reservation.cancelled' : 'reservation.modified';
}

interface Told {
  event?: string;
  data?: { order_id?: string; reservation_id?: string; status?: string };
}

function toldBy({ id, body, tx }: EventRow): string {
  if (body === null) {
    return `event ${id}, which is gone, in transaction ${tx}`;
  }
  const { event, data } = parse(body);
  return `${event} ${data?.order_id ?? data?.reservation_id} to ${data?.status} in transaction ${tx}`;
}

function parse(body: string): Told {
  try {
    return JSON.parse(body) as Told;
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
