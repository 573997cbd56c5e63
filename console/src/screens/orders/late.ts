import type { Input } from '../../api/client.ts';
import { makeKeptStore, useStore } from '../../ui/store.ts';
import { isToCook, OPEN_STATUSES, type OpenStatus, type Order } from './statuses.ts';

/** Minutes after which an order is late in a status. */
export type LateMinutes = Record<OpenStatus, number>;

export const DEFAULT_LATE: LateMinutes = { pending: 3, confirmed: 10, preparing: 20, ready: 10, out_for_delivery: 45 };

const kept = makeKeptStore('roomservice.late', (stored) => {
  const given = (stored ?? {}) as Partial<Record<OpenStatus, unknown>>;
  const minutesOf = (status: OpenStatus) => (Number(given[status]) > 0 ? Number(given[status]) : DEFAULT_LATE[status]);
  return Object.fromEntries(OPEN_STATUSES.map((status) => [status, minutesOf(status)])) as LateMinutes;
});

export const keepLateMinutes = kept.set;

export function useLateMinutes(): LateMinutes {
  return useStore(kept);
}

/** The minutes as the API takes them for the count of late orders (`GET /v1/staff/today/`). */
export function lateQuery(minutes: LateMinutes): NonNullable<Input<'getToday'>['query']> {
  return Object.fromEntries(
    OPEN_STATUSES.map((status) => [`late_${status}`, Math.max(1, Math.round(minutes[status]))]),
  );
}

const MINUTE_MS = 60_000;

/** Returns the time that staff have promised while it is still to be kept, or null. */
export function promisedTime(order: Order): string | null {
  return isToCook(order) ? order.ready_by : null;
}

/**
 * Returns by how many minutes an order is late, or null. It is late if it has been in its status too long, or if the time has passed at
 * which staff expected it to be ready.
 */
export function lateBy(order: Order, minutes: LateMinutes, now: number): number | null {
  const limit = minutes[order.status as OpenStatus];
  if (limit === undefined) return null;
  const dues = [Date.parse(order.status_changed_at) + limit * MINUTE_MS];
  const promised = promisedTime(order);
  if (promised !== null) dues.push(Date.parse(promised));
  const overMs = now - Math.min(...dues);
  return overMs < 0 ? null : Math.floor(overMs / MINUTE_MS);
}
