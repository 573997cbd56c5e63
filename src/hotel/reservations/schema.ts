import Type from 'typebox';
import { TRIMMED } from '#platform/lib/unicode.ts';
import {
  boolean,
  date,
  integer,
  MAX_INTEGER,
  oneOf,
  orNull,
  price,
  text,
  textOrNull,
  textUpTo,
  time,
  uuid,
} from '#platform/lib/fields.ts';
import { RoomTypePrice } from '../rooms/rooms.ts';
import { RESERVATION_STATUSES } from './reservation-status.ts';

const CHECK_IN = 'The day of arrival. The first night of the stay begins on it.';
const CHECK_OUT =
  'The day of departure. It is after `check_in`, by at most 730 nights. The night that begins on it is not part of the stay.';
const Guests = {
  minimum: 1,
  maximum: MAX_INTEGER,
  default: 1,
  description: "The number of guests. It is at most the room type's `max_occupancy`.",
};

export const AvailabilityQuery = Type.Object({
  room_type_id: uuid('The id of a room type, from the list of room types.', '01a19b53-7418-72ce-86a9-e7f8c3e6bf85'),
  check_in: date(CHECK_IN, '2030-05-01'),
  check_out: date(CHECK_OUT, '2030-05-04'),
});

const AvailableNight = Type.Object(
  {
    date: date('The day on which the night begins.'),
    sellable: integer(
      'The number of rooms that can still be booked. It is 0 if the night is full or closed, and negative after an oversell.',
    ),
  },
  { title: 'AvailableNight', description: 'The rooms of a room type that can be booked in one night.' },
);

export const Availability = Type.Object(
  {
    room_type_id: uuid('The room type of the query.'),
    name: text('The name of the room type.'),
    base_price: RoomTypePrice,
    days: Type.Array(AvailableNight, {
      description:
        'One entry for each night, from `check_in` to the night before `check_out`. A stay needs a room in each of its nights.',
    }),
  },
  {
    title: 'AvailabilityResponse',
    description: 'The sellable rooms of a room type, night by night.',
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

export const StayQuoteQuery = Type.Object({
  ...AvailabilityQuery.properties,
  check_in: date('The day of arrival. It must not be before today in the time zone of the property.', '2030-05-01'),
  guests: Type.Optional(Type.Integer({ ...Guests, examples: [2] })),
});
export type StayQuoteQuery = Type.Static<typeof StayQuoteQuery>;

const QuotedNight = Type.Object(
  {
    date: date('The day on which the night begins.'),
    price: price('The price of the night.'),
  },
  { title: 'QuotedNight', description: 'The price of one night of a stay.' },
);

export const NIGHTS_EXAMPLE = [
  { date: '2030-05-01', price: '84.48' },
  { date: '2030-05-02', price: '84.48' },
  { date: '2030-05-03', price: '84.48' },
];

export const StayQuote = Type.Object(
  {
    room_type_id: uuid('The room type of the query.'),
    check_in: date('The day of arrival.'),
    check_out: date('The day of departure.'),
    guests: integer('The number of guests.'),
    rate_plan: orNull(
      Type.Object({
        id: uuid('The id of the rate plan.'),
        name: text('The name of the rate plan.'),
      }),
      'The rate plan that a booking gets. Null if the room type has no active rate plan, so that its own `base_price` applies.',
    ),
    nights: Type.Array(QuotedNight, {
      description: 'The price of each night, from `check_in` to the night before `check_out`.',
    }),
    total_amount: price('The price of the whole stay, which is the sum of its nights.'),
    currency: text('The currency of the amounts, as three letters of ISO 4217.'),
  },
  {
    title: 'ReservationQuote',
    description: 'The price of a stay, as a booking would charge it now.',
    examples: [
      {
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        check_in: '2030-05-01',
        check_out: '2030-05-04',
        guests: 2,
        rate_plan: { id: '01a19b53-7418-7e7b-9678-4cd815b26365', name: 'Non-refundable' },
        nights: NIGHTS_EXAMPLE,
        total_amount: '253.44',
        currency: 'EUR',
      },
    ],
  },
);
export type StayQuote = Type.Static<typeof StayQuote>;

export const GuestPhone = textUpTo(20, 'The telephone number of the guest.', { ...TRIMMED, minLength: 1 });
export const GuestEmail = textUpTo(254, 'The e-mail address of the guest.', TRIMMED);

export const ReservationCreate = Type.Object(
  {
    external_reservation_id: textUpTo(
      150,
      "The caller's own id of the reservation. Several calls with one id book only one stay.",
      { minLength: 1 },
    ),
    room_type_id: uuid('The id of a room type, from the list of room types.'),
    check_in: date(`${CHECK_IN} It must not be before today in the time zone of the property.`),
    check_out: date(CHECK_OUT),
    guests: Type.Optional(Type.Integer(Guests)),
    guest: Type.Object(
      {
        name: textUpTo(500, 'The name that the guest gives at the desk.', { ...TRIMMED, minLength: 1 }),
        phone: GuestPhone,
        email: Type.Optional(GuestEmail),
      },
      { description: 'The guest for whom the stay is booked.' },
    ),
  },
  {
    title: 'ReservationCreate',
    description: 'A new reservation of one room of a room type for all nights of a stay.',
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

export const ReservationResponse = Type.Object(
  {
    success: boolean('Always true, because a refused call gets an error response.'),
    reservation_id: uuid('The Roomservice id of the reservation. Events also carry it.'),
    external_reservation_id: text("The caller's own id of the reservation, as it was sent."),
    status: oneOf(RESERVATION_STATUSES, 'The present status of the reservation. A new reservation is `confirmed`.'),
    room_type_id: uuid('The booked room type.'),
    check_in: date(CHECK_IN),
    check_out: date('The day of departure.'),
    guests: integer('The number of guests.'),
    total_amount: text(
      'The price of the whole stay: the sum of its nights under the cheapest rate plan that was open on all of them.',
    ),
    currency: text('The currency of the amount, as three letters of ISO 4217.'),
    created_at: time('The time of the booking.'),
  },
  {
    title: 'ReservationResponse',
    description: 'The present state of a reservation.',
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
    description: 'The external id under which the stay was booked, percent-encoded.',
    examples: ['CD-STAY-5521'],
  }),
});

export const PmsReservation = Type.Object(
  {
    id: uuid('The id of the reservation. Paths have it as `booking_id`.'),
    natural_id: text('A short reference that people can read aloud.'),
    status: oneOf(
      RESERVATION_STATUSES,
      'The present status of the reservation. It holds its nights in every status except `cancelled` and `expired`.',
    ),
    check_in_date: time("The time of arrival in UTC: the property's check-in time on the first day of the stay."),
    check_out_date: time("The time of departure in UTC: the property's check-out time on the last day of the stay."),
    room_type_id: orNull(Type.String({ format: 'uuid' }), 'The booked room type.'),
    total_amount: text('The price of the whole stay, in the currency of the tenant.'),
    external_source: textOrNull('The name of the OTA that sold the stay. Null if it did not come from an OTA.'),
    external_id: textOrNull("The OTA's own id of the reservation. Null if it did not come from an OTA."),
    guest: Type.Object(
      {
        full_name: text('The name of the guest.'),
        phone: textOrNull('The telephone number of the guest. Null if it is unknown.'),
        email: textOrNull('The e-mail address of the guest. Null if it is unknown.'),
      },
      { description: 'The guest of the stay.' },
    ),
  },
  {
    title: 'PmsReservation',
    description: 'A reservation. A partner, an OTA or the hotel itself booked it.',
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
