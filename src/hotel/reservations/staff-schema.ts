import Type from 'typebox';
import { NamedActor } from '#access/actors/actors.ts';
import { Price } from '#platform/lib/price.ts';
import { TRIMMED } from '#platform/lib/unicode.ts';
import {
  boolean,
  date,
  integer,
  integerFrom,
  oneOf,
  orNull,
  price,
  text,
  textOrNull,
  textUpTo,
  time,
  timeOrNull,
  uuid,
  uuidOrNull,
} from '#platform/lib/fields.ts';
import { RESERVATION_SOURCES, RESERVATION_STATUSES } from './reservation-status.ts';
import { GuestEmail, GuestPhone, NIGHTS_EXAMPLE } from './schema.ts';

const Status = (description: string) => oneOf(RESERVATION_STATUSES, description);
export const Source = (description: string) => oneOf(RESERVATION_SOURCES, description);

const NightlyPrice = Type.Object(
  {
    date: date('The day on which the night begins.'),
    price: price('The price of the night.'),
  },
  { title: 'NightlyPrice', description: 'The price of one night of a stay.' },
);

const FIELDS = {
  reservation_id: uuid('The Roomservice id of the reservation.'),
  natural_id: text('A short reference that people can read aloud.'),
  status: Status(
    'The present status of the reservation. It holds its nights in every status except `cancelled` and `expired`.',
  ),
  source: Source(
    '`partner`: a partner booked the stay. `ota`: an OTA sold the stay. `house`: the hotel itself booked the stay.',
  ),
  credential_id: uuidOrNull('The id of the credential of the partner. Null if no partner booked the stay.'),
  credential_label: textOrNull('The label of the credential. Null if no partner booked the stay.'),
  external_reservation_id: textOrNull("The partner's own id of the reservation. Null if no partner booked it."),
  external_source: textOrNull('The name of the OTA that sold the stay. Null if it did not come from an OTA.'),
  external_id: textOrNull("The OTA's own id of the reservation. Null if it did not come from an OTA."),
  room_type_id: uuid('The booked room type.'),
  rate_plan_id: uuidOrNull('The rate plan of the stay. Null if the room type had no active rate plan.'),
  check_in: date('The day of arrival.'),
  check_out: date('The day of departure.'),
  guests: integer('The number of guests.'),
  guest: Type.Object(
    {
      name: text('The name of the guest.'),
      phone: textOrNull('The telephone number of the guest. Null if it is unknown.'),
      email: textOrNull('The e-mail address of the guest. Null if it is unknown.'),
    },
    { description: 'The guest of the stay.' },
  ),
  total_amount: text('The price of the whole stay, as it was booked.'),
  nightly_prices: orNull(
    Type.Array(NightlyPrice),
    'The price of each night at the time of the booking. Their sum is `total_amount`. Null if the prices of the nights are ' +
      'unknown, because the caller gave only the amount of the whole stay, or because an OTA has changed it or staff have ended it early.',
  ),
  currency: text('The currency of the amount, as three letters of ISO 4217.'),
  created_at: time('The time of the booking.'),
  changed_at: time('The time of the last change of a field of this response. A new stay has the time of its booking.'),
  arrived_at: timeOrNull(
    'The time at which staff reported that the guests have arrived. Null if they have not arrived.',
  ),
};

const ReservationStep = Type.Object(
  {
    status: Status('The status of the reservation from this time.'),
    at: time('The time of the booking or of the change.'),
    by: NamedActor,
    reason: textOrNull('The reason that staff gave. It is never in an event. Null if no reason was given.'),
  },
  { title: 'ReservationStep', description: 'The booking, or a change of the status.' },
);

const STAY = {
  reservation_id: '01a1fa59-7d47-72d5-b816-c40f93e7a52d',
  natural_id: 'B3TN-90HW',
  status: 'confirmed',
  source: 'partner',
  credential_id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
  credential_label: 'City Delivery',
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
  nightly_prices: NIGHTS_EXAMPLE,
  currency: 'EUR',
  created_at: '2026-11-20T19:05:31.207Z',
  changed_at: '2026-11-20T19:05:31.207Z',
  arrived_at: null,
};

export const StaffReservation = Type.Object(FIELDS, {
  title: 'StaffReservation',
  description: 'A reservation as staff see it. A partner, an OTA or the hotel itself booked it.',
  examples: [STAY],
});
export type StaffReservation = Type.Static<typeof StaffReservation>;

export const StaffReservationWithHistory = Type.Object(
  {
    ...FIELDS,
    history: Type.Array(ReservationStep, {
      description:
        'The booking and the changes of the status, the oldest first, at most 200 changes. The booking of an OTA names the OTA, but ' +
        'not the id of its channel.',
    }),
  },
  {
    title: 'StaffReservationWithHistory',
    description: 'A reservation as staff see it, with its history.',
    examples: [
      {
        ...STAY,
        history: [
          {
            status: 'confirmed',
            at: '2026-11-20T19:05:31.207Z',
            by: { type: 'partner', id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b', name: 'City Delivery' },
            reason: null,
          },
        ],
      },
    ],
  },
);
export type StaffReservationWithHistory = Type.Static<typeof StaffReservationWithHistory>;

export const ReservationPath = Type.Object({
  id: text('The Roomservice id of the reservation, as the list shows it.', '01a1fa59-7d47-72d5-b816-c40f93e7a52d'),
});

const REQUEST_ID = 'd2a9c7e4-61b8-4f35-8b0c-7e94f1a3c256';

export const ReservationStatusChange = Type.Object(
  {
    status: Status('The new status of the reservation.'),
    request_id: Type.Optional(
      uuid(
        'An id that the caller makes for this change. It makes a repeat safe. If the last change of the status had the ' +
          'same id, the call changes nothing, and the response is 200 with the reservation as it is now. The service ' +
          'compares this id before it checks any other field.',
      ),
    ),
    expected_status: Type.Optional(
      Status('The status that the caller has seen. If the reservation has another status now, the response is 409.'),
    ),
    reason: Type.Optional(
      textUpTo(200, 'The reason for the change. Only staff see it, in the history. It is never in an event.'),
    ),
  },
  {
    title: 'ReservationStatusChange',
    description: 'A change of status.',
    examples: [
      { status: 'confirmed' },
      { status: 'no_show', request_id: REQUEST_ID },
      { status: 'cancelled', expected_status: 'confirmed', reason: 'The guest called.' },
    ],
  },
);
export type ReservationStatusChange = Type.Static<typeof ReservationStatusChange>;

export const Arrival = Type.Object(
  {
    arrived: boolean('True if the guests have arrived. False takes the arrival back.'),
  },
  { title: 'Arrival', description: 'The arrival of the guests.', examples: [{ arrived: true }] },
);

const DATES = {
  check_in: date('The day of arrival. It must not be before yesterday in the time zone of the property.'),
  check_out: date('The day of departure. It is after `check_in`, by at most 730 nights.'),
};
const Guests = integerFrom(
  1,
  "The number of guests. Without `overbook`, it is at most the room type's `max_occupancy`.",
);
const Amount = (description: string) => Type.Unsafe<string | number>({ ...Price, description });
const Overbook = boolean(
  'True accepts the stay even if no room is left, if nights are closed, if the minimum stay is longer, or if there are too many guests.',
);
const GuestName = textUpTo(500, 'The name of the guest.', { ...TRIMMED, minLength: 1 });

export const HouseBooking = Type.Object(
  {
    request_id: uuid('An id that the caller makes for this booking. Several calls with one id book only one stay.'),
    room_type_id: uuid('The id of a room type, from the list of properties.'),
    ...DATES,
    guests: Type.Optional(Guests),
    guest: Type.Object(
      { name: GuestName, phone: Type.Optional(GuestPhone), email: Type.Optional(GuestEmail) },
      { description: 'The guest for whom the stay is booked.' },
    ),
    rate_plan_id: Type.Optional(
      uuid('The rate plan of the stay. If it is missing, the cheapest active rate plan that allows the stay applies.'),
    ),
    total_amount: Type.Optional(
      Amount(
        'The price of the whole stay, 0 to 99999999.99 with at most two decimals, or with none if the currency of the tenant has ' +
          'none. It may be a string or a number. If it is ' +
          'missing, the rate plan gives the price.',
      ),
    ),
    overbook: Type.Optional(Overbook),
  },
  {
    title: 'HouseBooking',
    description: 'A booking by the hotel itself, for example for a guest who walks in.',
    examples: [
      {
        request_id: REQUEST_ID,
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        check_in: '2030-05-01',
        check_out: '2030-05-03',
        guests: 2,
        guest: { name: 'Rui Melo', phone: '+351 900 111 222' },
      },
    ],
  },
);
export type HouseBooking = Type.Static<typeof HouseBooking>;

export const HouseChange = Type.Object(
  {
    room_type_id: Type.Optional(uuid('The new room type.')),
    check_in: Type.Optional(
      date('The new day of arrival. It must not be before yesterday in the time zone of the property.'),
    ),
    check_out: Type.Optional(
      date(
        'The new day of departure. It is after `check_in`, by at most 730 nights. If the change ends the stay early, it is not ' +
          'before today in the time zone of the property.',
      ),
    ),
    guests: Type.Optional(Guests),
    guest: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(GuestName),
          phone: Type.Optional(orNull(GuestPhone, 'Null removes the number.')),
          email: Type.Optional(orNull(GuestEmail, 'Null removes the address.')),
        },
        { description: 'The new details of the guest. A missing detail keeps its value.' },
      ),
    ),
    total_amount: Type.Optional(
      Amount(
        'The new price of the whole stay. If it is missing and the nights or the room type change, the service calculates the ' +
          'price again. It takes the rate plan of the stay, if this plan allows the new stay, and otherwise the cheapest one. If the ' +
          'change ends the stay early, the price stays.',
      ),
    ),
    expected_changed_at: Type.Optional(
      time('The `changed_at` that the caller has seen. If the stay has changed since, the response is 409.'),
    ),
    overbook: Type.Optional(Overbook),
  },
  {
    title: 'HouseChange',
    description: 'A change of a stay that the hotel itself booked, or the early end of a stay.',
    examples: [
      { check_out: '2030-05-04', expected_changed_at: '2026-11-20T19:05:31.207Z' },
      { guest: { phone: '+351 900 333 444' } },
    ],
  },
);
export type HouseChange = Type.Static<typeof HouseChange>;
