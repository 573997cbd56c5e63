import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { RecentChanges } from '#platform/changes/changes.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { ApiError, OperatorError } from '#platform/errors.ts';
import { createMenuReader, type ReadListedMenu } from '#restaurant/menu/menu.ts';
import { createNightReader } from '#hotel/nights/nights.ts';
import { Orders } from '#restaurant/orders/orders.ts';
import { createRateReader } from '#hotel/rates/rates.ts';
import { Reservations } from '#hotel/reservations/reservations.ts';
import type { ReservationResponse } from '#hotel/reservations/schema.ts';
import { findRoomType, listRoomTypes } from '#hotel/rooms/rooms.ts';
import { createTransactionWithEvents, type EventType } from '#webhooks/events/events.ts';

/** In how many of the coming days a room is looked for. */
const HORIZON_DAYS = 180;
const DAY_MS = 86_400_000;

/** The business parts of the service that events come from. */
interface Business {
  db: Database;
  orders: Orders;
  reservations: Reservations;
  readListedMenu: ReadListedMenu;
}

/** What a platform, the kitchen or the front desk does so that the event happens. @returns the id of what it is about */
const CAUSES: Record<EventType, (business: Business, caller: Caller) => Promise<string>> = {
  async 'order.status_changed'(business, caller) {
    const id = await placeOrder(business, caller);
    await business.orders.moveAlong(caller.tenantId, id, 'confirmed');
    return id;
  },
  async 'reservation.created'(business, caller) {
    return (await bookStay(business, caller)).reservation_id;
  },
  async 'reservation.modified'(business, caller) {
    const { reservation_id: id } = await bookStay(business, caller);
    await business.reservations.changeStatus(caller.tenantId, id, 'completed');
    return id;
  },
  async 'reservation.cancelled'(business, caller) {
    const { reservation_id: id, external_reservation_id: externalId } = await bookStay(business, caller);
    await business.reservations.cancel(caller, externalId);
    return id;
  },
};

/**
 * Does what makes the event happen, by the service's own business parts: the event is as real as any other.
 * @returns the id of the order or reservation
 * @throws OperatorError where the tenant has nothing to order or no room to book
 */
export async function cause(db: Database, event: EventType, caller: Caller): Promise<string> {
  return await CAUSES[event](openBusiness(db), caller);
}

/** The parts as the API has them, without its memories: every look goes to the database. */
function openBusiness(db: Database): Business {
  const log = pino({ level: 'silent' });
  const changes = new RecentChanges(db, log);
  const readListedMenu = createMenuReader({ db, changes, log });
  // Nothing is sent from here: a process that delivers finds the events.
  const transactionWithEvents = createTransactionWithEvents(db, null);
  const orders = new Orders({ db, readListedMenu, transactionWithEvents });
  const reservations = new Reservations({
    db,
    transactionWithEvents,
    findRoomType: (tenantId, id) => findRoomType(db, tenantId, id),
    rates: createRateReader(db),
    readHeldNights: createNightReader(db),
  });
  return { db, orders, reservations, readListedMenu };
}

async function placeOrder({ orders, readListedMenu }: Business, caller: Caller): Promise<string> {
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
async function bookStay({ db, reservations }: Business, caller: Caller): Promise<ReservationResponse> {
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
