import Type from 'typebox';
import { RatePlan } from '../rates/rates.ts';
import { RESERVATION_STATUSES } from '../reservations/reservations.ts';

const Uuid = Type.String({ format: 'uuid' });
const Day = Type.String({ format: 'date' });

/** PMS contract §2. */
export const Property = Type.Object({
  id: Uuid,
  name: Type.String(),
  address: Type.String(),
  city: Type.String(),
  country_code: Type.String(),
});

export const RoomType = Type.Object({
  id: Uuid,
  name: Type.String(),
  max_occupancy: Type.Integer(),
  base_price: Type.Union([Type.String(), Type.Null()]),
  rate_plans: Type.Array(RatePlan),
});

export const InventoryEntry = Type.Object({
  date: Day,
  physical_capacity: Type.Integer(),
  sellable: Type.Integer({ description: 'below zero after an oversell' }),
});

export const PropertyPath = Type.Object({ property_id: Type.String() });
export const BookingPath = Type.Object({ booking_id: Type.String() });
export const InventoryQuery = Type.Object({ room_type_id: Uuid, check_in: Day, check_out: Day });
export const RatesQuery = Type.Object({ rate_plan_id: Uuid, check_in: Day, check_out: Day });
export const ReservationsQuery = Type.Object({
  status: Type.Optional(Type.Enum([...RESERVATION_STATUSES], { type: 'string' })),
});
export const RestrictionsWritten = Type.Object({ updated: Type.Integer() });
