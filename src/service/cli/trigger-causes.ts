import { randomUUID } from 'node:crypto';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { ApiError, OperatorError } from '#platform/errors.ts';
import type { ReservationResponse } from '#hotel/reservations/schema.ts';
import { listRoomTypes } from '#hotel/rooms/rooms.ts';
import type { EventType } from '#webhooks/events/events.ts';
import type { Business } from '../business.ts';

/** In how many of the coming days a room is looked for. */
const HORIZON_DAYS = 180;
const DAY_MS = 86_400_000;

/** What makes events: the business parts, and the database to choose a room from. */
export interface House extends Pick<Business, 'orders' | 'reservations' | 'readListedMenu'> {
  db: Database;
}

/** What a platform, the kitchen or the front desk does so that the event happens. @returns the id of what it is about */
const CAUSES: Record<EventType, (house: House, caller: Caller) => Promise<string>> = {
  async 'order.status_changed'(house, caller) {
    const id = await placeOrder(house, caller);
    await house.orders.moveAlong(caller.tenantId, id, 'confirmed');
    return id;
  },
  async 'reservation.created'(house, caller) {
    return (await bookStay(house, caller)).reservation_id;
  },
  async 'reservation.modified'(house, caller) {
    const { reservation_id: id } = await bookStay(house, caller);
    await house.reservations.changeStatus(caller.tenantId, id, 'completed');
    return id;
  },
  async 'reservation.cancelled'(house, caller) {
    const { reservation_id: id, external_reservation_id: externalId } = await bookStay(house, caller);
    await house.reservations.cancel(caller, externalId);
    return id;
  },
};

/**
 * Places an order or books a stay by the service's own business parts, and changes it until the event happens. Nothing of the event is simulated.
 * @returns the id of the order or reservation
 * @throws OperatorError where the tenant has nothing to order or no room to book
 */
export async function cause(house: House, event: EventType, caller: Caller): Promise<string> {
  return await CAUSES[event](house, caller);
}

async function placeOrder({ orders, readListedMenu }: House, caller: Caller): Promise<string> {
  const { dishes } = await readListedMenu(caller);
  const [dish] = JSON.parse(`[${dishes.slice(0, 1).toString()}]`) as { sku: string }[];
  if (dish === undefined) {
    throw new OperatorError('The demo tenant has no dish on its menu to order.');
  }
  const items = [{ item_id: dish.sku, quantity: 1 }];
  const { order } = await orders.place(caller, { external_order_id: newExternalId(), items });
  return order.order_id;
}

/** Books two nights in the first room type that has them, as soon as possible. */
async function bookStay({ db, reservations }: House, caller: Caller): Promise<ReservationResponse> {
  for (const { room_type_id } of await listRoomTypes(db, caller)) {
    const range = { check_in: daysAhead(2), check_out: daysAhead(HORIZON_DAYS) };
    const { days } = await reservations.availability(caller.tenantId, room_type_id, range);
    const first = days.findIndex(({ sellable }, night) => sellable > 0 && (days[night + 1]?.sellable ?? 0) > 0);
    const [checkIn, checkOut] = [days[first]?.date, days[first + 2]?.date];
    if (checkIn !== undefined && checkOut !== undefined) {
      const stay = { room_type_id, check_in: checkIn, check_out: checkOut };
      const guest = { name: 'Ana Silva', phone: '+351 900 000 000' };
      const input = { external_reservation_id: newExternalId(), ...stay, guest };
      const booked = await reservations.book(caller, input).catch(nullWhereNotSold);
      if (booked !== null) {
        return booked.reservation;
      }
    }
  }
  throw new OperatorError(`The demo tenant has no room left that could be booked in the next ${HORIZON_DAYS} days.`);
}

/** What is free may still be sold by no plan, or be gone by now. */
function nullWhereNotSold(error: unknown): null {
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
