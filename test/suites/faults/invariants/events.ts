import { type EventRow, readChanges, type StatusChange } from '../observer.ts';
import type { Invariant } from './invariant.ts';

/**
 * Invariant 4. Each transaction writes exactly one event for each status change in it. The event names the changed order or reservation and
 * its new status.
 */
export const eventsTellOfChanges: Invariant = {
  promise: '4 state and events agree',
  async check({ postgres }, { events }) {
    const changes = await readChanges(postgres);
    const reported = Map.groupBy(events.map(eventIn), (key) => key);
    const happened = Map.groupBy(changes.map(eventOf), (key) => key);
    const beyond = (some: typeof reported, others: typeof reported) =>
      [...some].filter(([key, { length }]) => (others.get(key)?.length ?? 0) < length).map(([key]) => key);
    return [
      ...beyond(happened, reported).map((key) => `a change without its event: ${key}`),
      ...beyond(reported, happened).map((key) => `an event without its change: ${key}`),
    ];
  },
};

/** A partner that reads the feed continuously gets each of its events exactly once, even if events are committed out of order. */
export const feedIsWhole: Invariant = {
  promise: 'the feed shows every event once',
  async check({ followers, client, postgres }) {
    const breaches: string[] = [];
    for (const follower of followers) {
      while (await follower.read(client));
      const { eventIds, partner } = follower;
      const feed = `the feed of ${partner.credentialId}`;
      const statement = 'SELECT id FROM event WHERE credential_id = $1';
      const rows = await postgres.query<{ id: string }>(statement, [partner.credentialId]);
      const read = new Set(eventIds);
      breaches.push(...rows.filter(({ id }) => !read.has(id)).map(({ id }) => `${feed} skipped ${id}`));
      if (read.size < eventIds.length) {
        breaches.push(`${feed} showed ${eventIds.length - read.size} events twice`);
      }
      if (read.size > rows.length) {
        breaches.push(`${feed} showed ${read.size} events, but the database has ${rows.length}`);
      }
    }
    return breaches;
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
  event_id?: string;
  data?: { order_id?: string; reservation_id?: string; status?: string };
}

function eventIn({ id, body, tx }: EventRow): string {
  if (body === null) {
    return `event ${id}, which is missing in the database, in transaction ${tx}`;
  }
  const { event, data } = parseEvent(body);
  return `${event} ${data?.order_id ?? data?.reservation_id} to ${data?.status} in transaction ${tx}`;
}

/** Returns an empty object if the body is not JSON. */
export function parseEvent(body: string): ReportedChange {
  try {
    return JSON.parse(body) as ReportedChange;
  } catch {
    return {};
  }
}
