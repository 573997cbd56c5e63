import { randomUUID } from 'node:crypto';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { ApiError, OperatorError } from '#platform/errors.ts';
import type { ReservationResponse } from '#hotel/reservations/schema.ts';
import { listRoomTypes } from '#hotel/rooms/rooms.ts';
import type { EventType } from '#webhooks/events/events.ts';
import type { Business } from '../business.ts';

/** Number of days from today within which `bookStay` searches for free nights. */
const HORIZON_DAYS = 180;
const DAY_MS = 86_400_000;

/** Business functions that cause events, and the database that `bookStay` uses to find a free room. */
export interface TriggerParts extends Pick<Business, 'orders' | 'reservations' | 'readListedMenu'> {
  db: Database;
}

/**
 * Functions that cause an event, by event type. Each function acts as a delivery platform, the kitchen or the front desk would. It returns
 * the id of the order or reservation.
 */
const CAUSES: Record<EventType, (parts: TriggerParts, caller: Caller) => Promise<string>> = {
  async 'order.status_changed'(parts, caller) {
    const id = await placeOrder(parts, caller);
    await parts.orders.moveAlong(caller.tenantId, id, 'confirmed', { type: 'operator', id: null });
    return id;
  },
  async 'reservation.created'(parts, caller) {
    return (await bookStay(parts, caller)).reservation_id;
  },
  async 'reservation.modified'(parts, caller) {
    const { reservation_id: id } = await bookStay(parts, caller);
    const operator = { type: 'operator', id: null } as const;
    await parts.reservations.changeStatus(caller.tenantId, id, { status: 'completed' }, operator);
    return id;
  },
  async 'reservation.cancelled'(parts, caller) {
    const { reservation_id: id, external_reservation_id: externalId } = await bookStay(parts, caller);
    await parts.reservations.cancel(caller, externalId);
    return id;
  },
};

/**
 * Causes a real event. Places an order or books a stay through the business functions of the service. If the event reports a change, also
 * changes the order or the stay.
 * @returns the id of the order or reservation
 * @throws OperatorError if the tenant has no dish to order or no room to book
 */
export async function cause(parts: TriggerParts, event: EventType, caller: Caller): Promise<string> {
  return await CAUSES[event](parts, caller);
}

async function placeOrder({ orders, readListedMenu }: TriggerParts, caller: Caller): Promise<string> {
  const { dishes } = await readListedMenu(caller);
  const [dish] = JSON.parse(`[${dishes.slice(0, 1).toString()}]`) as { sku: string }[];
  if (dish === undefined) {
    throw new OperatorError(
      'The demo tenant has no dish to order. "roomservice tenant apply demo/tenant.json" restores its menu.',
    );
  }
  const items = [{ item_id: dish.sku, quantity: 1 }];
  const { order } = await orders.place(caller, { external_order_id: newExternalId(), items });
  return order.order_id;
}

/** Books two consecutive nights in the first room type that has a free room in both nights. The search starts at the day after tomorrow. */
async function bookStay({ db, reservations }: TriggerParts, caller: Caller): Promise<ReservationResponse> {
  for (const { room_type_id } of await listRoomTypes(db, caller)) {
    const range = { check_in: daysAhead(2), check_out: daysAhead(HORIZON_DAYS) };
    const { days } = await reservations.availability(caller.tenantId, room_type_id, range);
    const first = days.findIndex(({ sellable }, night) => sellable > 0 && (days[night + 1]?.sellable ?? 0) > 0);
    const [checkIn, checkOut] = [days[first]?.date, days[first + 2]?.date];
    if (checkIn !== undefined && checkOut !== undefined) {
      const stay = { room_type_id, check_in: checkIn, check_out: checkOut };
      const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
      const input = { external_reservation_id: newExternalId(), ...stay, guest };
      const booked = await reservations.book(caller, input).catch(nullIfNotAvailable);
      if (booked !== null) {
        return booked.reservation;
      }
    }
  }
  throw new OperatorError(
    `The demo tenant has no free room in the next ${HORIZON_DAYS} days. Cancel a reservation first.`,
  );
}

/**
 * Returns null if the booking was refused because the room is not available: no rate plan sells it, or it has been booked in the meantime.
 * Rethrows any other error.
 */
function nullIfNotAvailable(error: unknown): null {
  if (error instanceof ApiError && error.code === 'room_not_available') {
    return null;
  }
  throw error;
}

function newExternalId(): string {
  return `trigger-${randomUUID().slice(0, 8)}`;
}

function daysAhead(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}
