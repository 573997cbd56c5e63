import Type from 'typebox';
import { PageQuery } from '#platform/http/paging.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { RESERVATION_STATUSES } from './reservation-status.ts';

const MAX_INTEGER = 2_147_483_647;
const Money = Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN } });
const CheckIn = { format: 'date', description: 'The day of arrival: the first night of the stay.' };
const CheckOut = {
  format: 'date',
  description:
    'The day of departure: after `check_in`, by at most 730 nights. The night that begins on it is not part of the stay.',
};

/** Contract §4, `GET availability`. */
export const AvailabilityQuery = Type.Object({
  room_type_id: Type.String({
    format: 'uuid',
    description: 'A room type of the list.',
    examples: ['01a19b53-7418-72ce-86a9-e7f8c3e6bf85'],
  }),
  check_in: Type.String({ ...CheckIn, examples: ['2030-05-01'] }),
  check_out: Type.String({ ...CheckOut, examples: ['2030-05-04'] }),
});

const AvailableNight = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'The day on which the night begins.' }),
    sellable: Type.Integer({
      description:
        'How many rooms can still be booked. 0 where the night is full or closed; below zero after an oversell.',
    }),
  },
  { title: 'AvailableNight', description: 'What is left of a room type in one night.' },
);

/** Contract §2, `AvailabilityResponse`. */
export const Availability = Type.Object(
  {
    room_type_id: Type.String({ format: 'uuid', description: 'The room type that was asked for.' }),
    name: Type.String({ description: 'Its name.' }),
    base_price: Type.Union([Money, Type.Null()], {
      description: 'What a night costs where the room type is sold under no rate plan; null: no price is set.',
    }),
    days: Type.Array(AvailableNight, {
      description:
        'One entry a night, from `check_in` to the night before `check_out`. A stay needs a room in each of them.',
    }),
  },
  {
    title: 'AvailabilityResponse',
    description: 'What can be booked of a room type, night by night.',
    examples: [
      {
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        name: 'Double',
        base_price: '90.00',
        days: [
          { date: '2030-05-01', sellable: 11 },
          { date: '2030-05-02', sellable: 4 },
          { date: '2030-05-03', sellable: 9 },
        ],
      },
    ],
  },
);
export type Availability = Type.Static<typeof Availability>;

/** Contract §2, `ReservationCreate`. */
export const ReservationCreate = Type.Object(
  {
    external_reservation_id: Type.String({
      minLength: 1,
      maxLength: 150,
      description: "The caller's own id of the reservation. However often it is sent, one stay is booked.",
    }),
    room_type_id: Type.String({ format: 'uuid', description: 'A room type of the list.' }),
    check_in: Type.String({ ...CheckIn, description: `${CheckIn.description} Not before today at the property.` }),
    check_out: Type.String(CheckOut),
    guests: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_INTEGER,
        default: 1,
        description: "How many stay: at most the room type's `max_occupancy`.",
      }),
    ),
    guest: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 500, description: 'The name, as it is asked for at the desk.' }),
        phone: Type.String({ minLength: 1, maxLength: 20, description: 'A number under which the guest is reached.' }),
        email: Type.Optional(Type.String({ maxLength: 254, description: 'An e-mail address.' })),
      },
      { description: 'In whose name the stay is booked.' },
    ),
  },
  {
    title: 'ReservationCreate',
    description: 'A stay as a platform books it: one room of the type, for all the nights.',
    examples: [
      {
        external_reservation_id: 'CD-STAY-5521',
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        check_in: '2030-05-01',
        check_out: '2030-05-04',
        guests: 2,
        guest: { name: 'Ana Silva', phone: '+351 900 000 000', email: 'ana.silva@example.com' },
      },
    ],
  },
);
export type ReservationCreate = Type.Static<typeof ReservationCreate>;

/** Decision 27. */
export const ReservationResponse = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true: a refusal is answered with an error.' }),
    reservation_id: Type.String({ format: 'uuid', description: 'The id inside Roomservice; events carry it too.' }),
    external_reservation_id: Type.String({ description: "The caller's own id, as it was sent." }),
    status: Type.Enum([...RESERVATION_STATUSES], {
      type: 'string',
      description: 'Where the reservation stands. A new one is `confirmed`.',
    }),
    room_type_id: Type.String({ format: 'uuid', description: 'The booked room type.' }),
    check_in: Type.String(CheckIn),
    check_out: Type.String({ format: 'date', description: 'The day of departure.' }),
    guests: Type.Integer({ description: 'How many stay.' }),
    total_amount: Type.String({
      description: 'What the whole stay costs: the nights under the cheapest rate plan that was open for all of them.',
    }),
    currency: Type.String({ description: 'Three letters of ISO 4217.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was booked.' }),
  },
  {
    title: 'ReservationResponse',
    description: 'The reservation as it stands now.',
    examples: [
      {
        success: true,
        reservation_id: '01a1fa59-7d47-72d5-b816-c40f93e7a52d',
        external_reservation_id: 'CD-STAY-5521',
        status: 'confirmed',
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        check_in: '2030-05-01',
        check_out: '2030-05-04',
        guests: 2,
        total_amount: '253.44',
        currency: 'EUR',
        created_at: '2026-11-20T19:05:31.207Z',
      },
    ],
  },
);
export type ReservationResponse = Type.Static<typeof ReservationResponse>;

export const ExternalReservationPath = Type.Object({
  external_reservation_id: Type.String({
    minLength: 1,
    description: 'The id that the stay was booked under, percent-encoded.',
    examples: ['CD-STAY-5521'],
  }),
});

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** A reservation as staff see it, whoever booked it. */
export const StaffReservation = Type.Object(
  {
    reservation_id: Type.String({ format: 'uuid', description: 'Our id of the reservation.' }),
    natural_id: Type.String({ description: 'A short reference for people, to be read aloud.' }),
    status: Type.Enum([...RESERVATION_STATUSES], {
      type: 'string',
      description: 'Where the reservation stands. All but `cancelled` and `expired` hold their nights.',
    }),
    external_reservation_id: textOrNull("The partner's own id of it; null where no partner booked it."),
    external_source: textOrNull('The OTA it came from; null where it came from none.'),
    external_id: textOrNull("The OTA's own id of it; null where it came from none."),
    room_type_id: Type.String({ format: 'uuid', description: 'The booked room type.' }),
    rate_plan_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'The rate plan it was sold under; null where the room type had none.',
    }),
    check_in: Type.String({ format: 'date', description: 'The day of arrival.' }),
    check_out: Type.String({ format: 'date', description: 'The day of departure.' }),
    guests: Type.Integer({ description: 'How many stay.' }),
    guest: Type.Object(
      {
        name: Type.String({ description: 'The name of the guest.' }),
        phone: textOrNull('A telephone number, where one is known.'),
        email: textOrNull('An e-mail address, where one is known.'),
      },
      { description: 'Who stays.' },
    ),
    total_amount: Type.String({ description: 'What the stay costs, as it was booked.' }),
    currency: Type.String({ description: 'The currency of the amount, three letters of ISO 4217.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was booked.' }),
  },
  {
    title: 'StaffReservation',
    description: 'A reservation as the house sees it, whoever booked it.',
    examples: [
      {
        reservation_id: '01a1fa59-7d47-72d5-b816-c40f93e7a52d',
        natural_id: 'B3TN-90HW',
        status: 'confirmed',
        external_reservation_id: 'CD-STAY-5521',
        external_source: null,
        external_id: null,
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        rate_plan_id: '01a19b53-7418-7e7b-9678-4cd815b26365',
        check_in: '2030-05-01',
        check_out: '2030-05-04',
        guests: 2,
        guest: { name: 'Ana Silva', phone: '+351 900 000 000', email: 'ana.silva@example.com' },
        total_amount: '253.44',
        currency: 'EUR',
        created_at: '2026-11-20T19:05:31.207Z',
      },
    ],
  },
);
export type StaffReservation = Type.Static<typeof StaffReservation>;

export const StaffReservationQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(
    Type.Enum([...RESERVATION_STATUSES], {
      type: 'string',
      description: 'Only reservations in this status.',
      examples: ['confirmed'],
    }),
  ),
});
export const ReservationPath = Type.Object({
  id: Type.String({
    description: 'Our id of the reservation, as the list shows it.',
    examples: ['01a1fa59-7d47-72d5-b816-c40f93e7a52d'],
  }),
});
export const ReservationStatusChange = Type.Object(
  { status: Type.Enum([...RESERVATION_STATUSES], { type: 'string', description: 'The status that it comes to.' }) },
  { title: 'ReservationStatusChange', description: 'Where the reservation goes.', examples: [{ status: 'confirmed' }] },
);
