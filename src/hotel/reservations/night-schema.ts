import Type from 'typebox';
import { NamedActor } from '#access/actors/actors.ts';
import { date, integer, oneOf, text, time, uuid } from '#platform/lib/fields.ts';
import { RESERVATION_STATUSES } from './reservation-status.ts';
import { Source } from './staff-schema.ts';

const NIGHT_CHANGES = ['booked', 'cancelled', 'changed', 'price', 'stop_sell', 'capacity'] as const;
export type NightChangeKind = (typeof NIGHT_CHANGES)[number];

export const NightPath = Type.Object({
  room_type_id: text('The id of a room type, from the list of properties.', '01a19b53-7418-72ce-86a9-e7f8c3e6bf85'),
  date: date('The day on which the night begins.', '2030-05-02'),
});

const NightStay = Type.Object(
  {
    reservation_id: uuid('The Roomservice id of the reservation.'),
    natural_id: text('A short reference that people can read aloud.'),
    status: oneOf(RESERVATION_STATUSES, 'The present status of the reservation.'),
    source: Source('The source of the stay: a partner, an OTA or the hotel itself.'),
    guest_name: text('The name of the guest.'),
    check_in: date('The day of arrival.'),
    check_out: date('The day of departure.'),
  },
  { title: 'NightStay', description: 'A stay that holds a room in the night.' },
);

const NightEntry = Type.Object(
  {
    at: time('The time of the change.'),
    what: oneOf(
      NIGHT_CHANGES,
      '`booked`: a stay began to hold the night. `cancelled`: a stay was cancelled or has expired. `changed`: the dates or ' +
        'the room type of a stay changed. `price`: a price of the night was written. `stop_sell`: the night was closed or ' +
        'opened for sale. `capacity`: the number of rooms of the room type changed.',
    ),
    by: NamedActor,
    held_after: integer('The number of rooms that were held after the change.'),
  },
  { title: 'NightEntry', description: 'A change that concerns the night.' },
);
export type NightEntry = Type.Static<typeof NightEntry>;

const PARTNER = { type: 'partner', id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b', name: 'City Delivery' };

export const Night = Type.Object(
  {
    capacity: integer('The number of rooms of the room type.'),
    held: integer('The number of rooms that are held in the night. It may exceed the capacity.'),
    stays: Type.Array(NightStay, {
      description: 'The stays that hold a room in the night, the newest booking first, at most 1,000.',
    }),
    history: Type.Array(NightEntry, {
      description:
        'The newest 200 changes, the newest first. Prices, closures and capacities come from the newest 50 writes that concern ' +
        'the room type: of rates, restrictions, its capacity and tenant documents. A write that repeats the previous value is left out.',
    }),
  },
  {
    title: 'Night',
    description: 'One night of a room type.',
    examples: [
      {
        capacity: 14,
        held: 1,
        stays: [
          {
            reservation_id: '01a1fa59-7d47-72d5-b816-c40f93e7a52d',
            natural_id: 'B3TN-90HW',
            status: 'confirmed',
            source: 'partner',
            guest_name: 'Ana Silva',
            check_in: '2030-05-01',
            check_out: '2030-05-04',
          },
        ],
        history: [
          { at: '2026-11-20T19:05:31.207Z', what: 'booked', by: PARTNER, held_after: 1 },
          { at: '2026-11-20T09:00:03.551Z', what: 'price', by: { ...PARTNER, name: 'Front desk PMS' }, held_after: 0 },
        ],
      },
    ],
  },
);
export type Night = Type.Static<typeof Night>;
