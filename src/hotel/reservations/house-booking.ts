import { invalidField, notFound } from '#platform/errors.ts';
import { addDays, type DateText, nightsOf, todayIn } from '#platform/lib/dates.ts';
import { isOpen, type PlanCalendar, type Quote, quoteCheapest, quotePlan } from '../rates/rates.ts';
import type { RoomTypeWithClock } from '../rooms/rooms.ts';
import { notAvailable } from './booking.ts';
import type { HouseBooking } from './staff-schema.ts';

/**
 * Checks the day of arrival of a booking by the hotel itself. Checks the number of guests too, unless `overbook` is true.
 * @throws ApiError 400 `invalid_request`
 */
export function checkBooking(roomType: RoomTypeWithClock, { guests = 1, check_in, overbook = false }: HouseBooking) {
  checkArrival(roomType, check_in);
  if (!overbook) {
    checkGuests(roomType, guests);
  }
}

/** Refuses a day of arrival that is earlier than yesterday in the time zone of the property. @throws ApiError 400 `invalid_request` */
export function checkArrival({ timezone }: RoomTypeWithClock, checkIn: DateText): void {
  const yesterday = addDays(todayIn(timezone), -1);
  if (checkIn < yesterday) {
    throw invalidField('check_in', `must not be before yesterday at the property, which is ${yesterday}`);
  }
}

/** Refuses more guests than the room type allows. @throws ApiError 400 `invalid_request` */
export function checkGuests(roomType: RoomTypeWithClock, guests: number): void {
  if (guests > roomType.max_occupancy) {
    throw invalidField('guests', `must be at most ${roomType.max_occupancy} in this room type`);
  }
}

/**
 * Returns the price of a booking by the hotel itself. If the booking names a rate plan, the price is the price of this plan. Otherwise it
 * is the price of the cheapest plan that allows the stay. Does not check that rooms are left.
 * @throws ApiError 404 (code `error`) if the named rate plan is not an active plan of the room type
 * @throws ApiError 409 `room_not_available` if the named plan does not allow the stay, or if no plan is named and no plan allows the stay
 */
export function bookingPlan(roomType: RoomTypeWithClock, plans: PlanCalendar[], input: HouseBooking): Quote {
  const { overbook = false, rate_plan_id } = input;
  const nights = nightsOf(input.check_in, input.check_out);
  if (rate_plan_id === undefined) {
    return cheapest(roomType, plans, nights, overbook);
  }
  const plan = plans.find(({ id, isActive }) => isActive && id === rate_plan_id.toLowerCase());
  if (plan === undefined) {
    throw notFound('rate plan');
  }
  if (!overbook && !isOpen(plan, nights)) {
    throw notAvailable();
  }
  return quotePlan(plan, nights);
}

/** Returns the price under the cheapest rate plan. @throws ApiError 409 `room_not_available` if no rate plan allows the stay */
export function cheapest(roomType: RoomTypeWithClock, plans: PlanCalendar[], nights: DateText[], overbook: boolean) {
  const quote = quoteCheapest(plans, nights, roomType.base_price, overbook ? 'ignore' : 'apply');
  if (quote === null) {
    throw notAvailable();
  }
  return quote;
}
