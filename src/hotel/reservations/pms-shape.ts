import Type from 'typebox';
import { instantOf } from '#platform/lib/dates.ts';
import type { Clock } from '../rooms/rooms.ts';
import { RESERVATION_STATUSES, type ReservationStatus } from './reservation-status.ts';
import type { ReservationRow } from './store.ts';

const NullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/**
 * Reservation in a response to a PMS. An OTA that sends a reservation to the service gets a response of the same form (PMS contract §2).
 */
export const PmsReservation = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the reservation. Paths have it as `booking_id`.' }),
    natural_id: Type.String({ description: 'A short reference that people can read aloud.' }),
    status: Type.Enum([...RESERVATION_STATUSES], {
      type: 'string',
      description:
        'The present status of the reservation. It holds its nights in every status except `cancelled` and `expired`.',
    }),
    check_in_date: Type.String({
      format: 'date-time',
      description: "The time of arrival in UTC: the property's check-in time on the first day of the stay.",
    }),
    check_out_date: Type.String({
      format: 'date-time',
      description: "The time of departure in UTC: the property's check-out time on the last day of the stay.",
    }),
    room_type_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], { description: 'The booked room type.' }),
    total_amount: Type.String({ description: 'The price of the whole stay, in the currency of the tenant.' }),
    external_source: NullableText('The name of the OTA that sold the stay. Null if it did not come from an OTA.'),
    external_id: NullableText("The OTA's own id of the reservation. Null if it did not come from an OTA."),
    guest: Type.Object(
      {
        full_name: Type.String({ description: 'The name of the guest.' }),
        phone: NullableText('The telephone number of the guest. Null if it is unknown.'),
        email: NullableText('The e-mail address of the guest. Null if it is unknown.'),
      },
      { description: 'The guest of the stay.' },
    ),
  },
  {
    title: 'PmsReservation',
    description: 'A reservation. A partner or an OTA booked it.',
    examples: [
      {
        id: '01a1f7cc-8abc-7b08-bcc8-b8e779d1e647',
        natural_id: '7K2M-4QXF',
        status: 'confirmed',
        check_in_date: '2030-05-01T14:00:00.000Z',
        check_out_date: '2030-05-04T10:00:00.000Z',
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        total_amount: '288.00',
        external_source: 'staywell',
        external_id: 'SW-88213',
        guest: { full_name: 'Tomás Ferreira', phone: '+351 911 222 333', email: 'tomas@example.com' },
      },
    ],
  },
);
export type PmsReservation = Type.Static<typeof PmsReservation>;

/**
 * Returns the reservation as responses of the PMS API show it. Its dates become times in UTC. They are computed with the time zone, the
 * check-in time and the check-out time of the property (decision 28).
 */
export function pmsShape(row: ReservationRow, clock: Clock): PmsReservation {
  return {
    id: row.id,
    natural_id: row.natural_id,
    status: row.status as ReservationStatus,
    check_in_date: instantOf(row.check_in, clock.check_in_time, clock.timezone),
    check_out_date: instantOf(row.check_out, clock.check_out_time, clock.timezone),
    room_type_id: row.room_type_id,
    total_amount: row.total_amount,
    external_source: row.external_source,
    external_id: row.external_id,
    guest: { full_name: row.guest_name, phone: row.guest_phone, email: row.guest_email },
  };
}
