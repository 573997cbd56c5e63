import Type from 'typebox';
import { PageQuery } from '../http/paging.ts';
import { RESERVATION_STATUSES } from './reservation-status.ts';

const MAX_INTEGER = 2_147_483_647;
const Uuid = Type.String({ format: 'uuid' });
const Day = Type.String({ format: 'date' });
const Money = Type.String();
const NullableText = Type.Union([Type.String(), Type.Null()]);
const Status = Type.Enum([...RESERVATION_STATUSES], { type: 'string' });

/** Contract §4, `GET availability`. */
export const AvailabilityQuery = Type.Object({ room_type_id: Uuid, check_in: Day, check_out: Day });

/** Contract §2, `AvailabilityResponse`. */
export const Availability = Type.Object({
  room_type_id: Uuid,
  name: Type.String(),
  base_price: Type.Union([Money, Type.Null()]),
  days: Type.Array(Type.Object({ date: Day, sellable: Type.Integer() })),
});
export type Availability = Type.Static<typeof Availability>;

/** Contract §2, `ReservationCreate`. */
export const ReservationCreate = Type.Object({
  external_reservation_id: Type.String({
    minLength: 1,
    maxLength: 150,
    description: "the caller's own id; idempotency key",
  }),
  room_type_id: Uuid,
  check_in: Day,
  check_out: Day,
  guests: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
  guest: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 500 }),
    phone: Type.String({ minLength: 1, maxLength: 20 }),
    email: Type.Optional(Type.String({ maxLength: 254 })),
  }),
});
export type ReservationCreate = Type.Static<typeof ReservationCreate>;

/** Decision 27. */
export const ReservationResponse = Type.Object({
  success: Type.Boolean(),
  reservation_id: Uuid,
  external_reservation_id: Type.String(),
  status: Status,
  room_type_id: Uuid,
  check_in: Day,
  check_out: Day,
  guests: Type.Integer(),
  total_amount: Money,
  currency: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
});
export type ReservationResponse = Type.Static<typeof ReservationResponse>;

export const ExternalReservationPath = Type.Object({ external_reservation_id: Type.String({ minLength: 1 }) });

/** A reservation as staff see it, whoever booked it. */
export const StaffReservation = Type.Object({
  reservation_id: Uuid,
  natural_id: Type.String(),
  status: Status,
  external_reservation_id: NullableText,
  external_source: NullableText,
  external_id: NullableText,
  room_type_id: Uuid,
  rate_plan_id: Type.Union([Uuid, Type.Null()]),
  check_in: Day,
  check_out: Day,
  guests: Type.Integer(),
  guest: Type.Object({ name: Type.String(), phone: NullableText, email: NullableText }),
  total_amount: Money,
  currency: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
});
export type StaffReservation = Type.Static<typeof StaffReservation>;

export const StaffReservationQuery = Type.Object({ ...PageQuery.properties, status: Type.Optional(Status) });
export const ReservationPath = Type.Object({ id: Type.String() });
export const ReservationStatusChange = Type.Object({ status: Status });
