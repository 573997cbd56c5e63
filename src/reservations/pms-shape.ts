import Type from 'typebox';
import { momentOf } from '../lib/dates.ts';
import type { Clock } from '../rooms/rooms.ts';
import { RESERVATION_STATUSES, type ReservationStatus } from './reservation-status.ts';
import type { ReservationRow } from './store.ts';

const Uuid = Type.String({ format: 'uuid' });
const Time = Type.String({ format: 'date-time' });
const NullableText = Type.Union([Type.String(), Type.Null()]);

/** PMS contract §2. The PMS API and the receiver of OTA reservations answer with it. */
export const PmsReservation = Type.Object({
  id: Uuid,
  natural_id: Type.String(),
  status: Type.Enum([...RESERVATION_STATUSES], { type: 'string' }),
  check_in_date: Time,
  check_out_date: Time,
  room_type_id: Type.Union([Uuid, Type.Null()]),
  total_amount: Type.String(),
  external_source: NullableText,
  external_id: NullableText,
  guest: Type.Object({ full_name: Type.String(), phone: NullableText, email: NullableText }),
});
export type PmsReservation = Type.Static<typeof PmsReservation>;

/** The stay's dates become moments by the clock of its property (decision 28). */
export function pmsShape(row: ReservationRow, clock: Clock): PmsReservation {
  return {
    id: row.id,
    natural_id: row.natural_id,
    status: row.status as ReservationStatus,
    check_in_date: momentOf(row.check_in, clock.check_in_time, clock.timezone),
    check_out_date: momentOf(row.check_out, clock.check_out_time, clock.timezone),
    room_type_id: row.room_type_id,
    total_amount: row.total_amount,
    external_source: row.external_source,
    external_id: row.external_id,
    guest: { full_name: row.guest_name, phone: row.guest_phone, email: row.guest_email },
  };
}
