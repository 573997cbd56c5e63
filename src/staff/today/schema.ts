import Type from 'typebox';
import { boolean, date, integer, orNull, sum, text, time, timeOrNull, uuid } from '#platform/lib/fields.ts';

/** Minutes after which an order is late in a status, if the query does not say. */
export const LATE_MINUTES = { pending: 3, confirmed: 10, preparing: 20, ready: 10, out_for_delivery: 45 } as const;
export type OpenStatus = keyof typeof LATE_MINUTES;

const minutesIn = (status: OpenStatus) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: LATE_MINUTES[status],
      description: `The minutes after which an order that is \`${status}\` counts as late.`,
      examples: [LATE_MINUTES[status]],
    }),
  );

export const TodayQuery = Type.Object({
  late_pending: minutesIn('pending'),
  late_confirmed: minutesIn('confirmed'),
  late_preparing: minutesIn('preparing'),
  late_ready: minutesIn('ready'),
  late_out_for_delivery: minutesIn('out_for_delivery'),
});
export type TodayQuery = Type.Static<typeof TodayQuery>;

const FailingReceiver = Type.Object(
  {
    credential_id: uuid('The credential to whose webhook URL the deliveries go.'),
    label: text('The label of the credential. It may be empty.'),
    since: time(
      'The time of the first attempt that failed after the last successful one, as far as the last attempts show it.',
    ),
    last_attempt_at: time('The time of the last attempt.'),
    http_status: orNull(Type.Integer(), 'The HTTP status of the last response. Null if the receiver did not answer.'),
    error: text('The reason why the last attempt failed.'),
    waiting: integer('The number of deliveries that wait for an attempt, at most 10,000.'),
  },
  { title: 'FailingReceiver', description: 'A receiver of a partner whose last attempt failed.' },
);
export type FailingReceiver = Type.Static<typeof FailingReceiver>;

const OversoldToday = Type.Object(
  {
    room_type_id: uuid('The room type.'),
    room_type: text('The name of the room type.'),
    date: date('The day on which the night begins.'),
    capacity: integer('The number of rooms of the room type.'),
    held: integer('The number of rooms that reservations hold. It is above `capacity`.'),
  },
  { title: 'OversoldToday', description: 'A night on which more rooms are held than the room type has.' },
);
export type OversoldToday = Type.Static<typeof OversoldToday>;

const OpenOrders = Type.Object(
  {
    status: Type.Enum(Object.keys(LATE_MINUTES) as OpenStatus[], {
      type: 'string',
      description: 'The status of the orders.',
    }),
    count: integer('The number of orders with this status.'),
    oldest_at: timeOrNull(
      'The time at which the order that waits longest got this status. Null if there is no such order.',
    ),
  },
  { title: 'OpenOrders', description: 'The unfinished orders of one status.' },
);

const OrdersToday = Type.Object(
  {
    open: Type.Array(OpenOrders, {
      description: 'The unfinished orders, one entry for each status. Only the newest 10,000 orders are counted.',
    }),
    late: Type.Object(
      {
        count: integer('The number of orders that are late.'),
        oldest_at: timeOrNull(
          'The time at which the one of them that waits longest got its status. Null if no order is late.',
        ),
      },
      {
        description:
          'The orders that have had their status for longer than the query allows, or whose `ready_by` has passed before they are ready.',
      },
    ),
    today: Type.Object(
      {
        date: date('The present day in the time zone of the tenant.'),
        count: integer('The number of orders of this day that are not cancelled.'),
        total: sum('The sum of their totals in the currency of the tenant.'),
      },
      { description: 'The orders that were placed today.' },
    ),
  },
  { title: 'OrdersToday', description: 'The orders of the restaurant now.' },
);
export type OrdersToday = Type.Static<typeof OrdersToday>;

const HotelToday = Type.Object(
  {
    date: date('The present day in the time zone of the tenant.'),
    arrivals: integer(
      'The number of stays that begin today, without those that are cancelled or that the guests missed.',
    ),
    arrived: integer('The number of these stays whose guests have arrived.'),
    departures: integer('The number of stays that end today.'),
    departed: integer('The number of these stays that are completed.'),
    in_house: integer(
      'The number of confirmed stays that began before today or whose guests have arrived, until they are completed.',
    ),
    nights: Type.Array(
      Type.Object({
        date: date('The day on which the night begins.'),
        held: integer('The number of rooms that reservations hold.'),
        capacity: integer('The number of rooms of all active room types.'),
      }),
      { description: 'The night that begins today and the 13 nights after it.' },
    ),
  },
  { title: 'HotelToday', description: 'The stays of the hotel now.' },
);
export type HotelToday = Type.Static<typeof HotelToday>;

const PartnerToday = Type.Object(
  {
    credential_id: uuid('The credential of the partner.'),
    label: text('The label of the credential. It may be empty.'),
    last_used_at: timeOrNull('The time of the last call with the credential. Null if there was no call.'),
    has_webhook: boolean('True if a webhook URL is registered.'),
    delivered: integer('The number of deliveries of the last 24 hours that the receiver has accepted.'),
    undelivered: integer('The number of deliveries of the last 24 hours of which every attempt until now has failed.'),
  },
  {
    title: 'PartnerToday',
    description:
      'A partner with its last use, and with the results of its deliveries of the last 24 hours. Of all partners together, only the newest 10,000 deliveries are counted.',
  },
);
export type PartnerToday = Type.Static<typeof PartnerToday>;

const FirstSteps = Type.Object(
  {
    has_partner: boolean('True if a credential of a partner was issued.'),
    has_webhook: boolean('True if a partner has registered a webhook URL.'),
    has_booking: boolean('True if a partner has placed an order or booked a stay.'),
  },
  { title: 'FirstSteps', description: 'The first steps of a new house.' },
);
export type FirstSteps = Type.Static<typeof FirstSteps>;

const CREDENTIAL_ID = '01a1fa2c-9a40-7c11-a2a6-3f5e0c2d9b10';
const OVERSOLD = {
  room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
  room_type: 'Family',
  date: '2026-11-22',
  capacity: 14,
  held: 15,
};

export const Today = Type.Object(
  {
    at: time('The time at which the numbers were read.'),
    receivers: orNull(
      Type.Array(FailingReceiver),
      'The receivers that fail. Null for a caller without the area `deliveries`.',
    ),
    oversold: orNull(
      Type.Array(OversoldToday),
      'The first 50 oversold nights from today on. Null without a hotel, and for a caller without the area `hotel`.',
    ),
    orders: orNull(OrdersToday, 'Null without a restaurant, and for a caller without the area `orders`.'),
    hotel: orNull(HotelToday, 'Null without a hotel, and for a caller without the area `hotel`.'),
    partners: orNull(
      Type.Array(PartnerToday),
      'The active credentials of partners, at most 50, those with the latest use first. Null for a caller who is not an owner.',
    ),
    first_steps: orNull(FirstSteps, 'Null for a caller who is not an owner.'),
  },
  {
    title: 'Today',
    description: 'The state of the house now.',
    examples: [
      {
        at: '2026-11-20T18:12:40.120Z',
        receivers: [
          {
            credential_id: CREDENTIAL_ID,
            label: 'City Delivery',
            since: '2026-11-20T17:50:02.000Z',
            last_attempt_at: '2026-11-20T18:11:30.000Z',
            http_status: 503,
            error: 'The receiver answered with the status 503.',
            waiting: 12,
          },
        ],
        oversold: [OVERSOLD],
        orders: {
          open: [{ status: 'pending', count: 2, oldest_at: '2026-11-20T18:09:12.000Z' }],
          late: { count: 1, oldest_at: '2026-11-20T17:31:00.000Z' },
          today: { date: '2026-11-20', count: 64, total: '1893.40' },
        },
        hotel: {
          date: '2026-11-20',
          arrivals: 6,
          arrived: 4,
          departures: 3,
          departed: 3,
          in_house: 21,
          nights: [{ date: '2026-11-20', held: 25, capacity: 40 }],
        },
        partners: [
          {
            credential_id: CREDENTIAL_ID,
            label: 'City Delivery',
            last_used_at: '2026-11-20T18:12:31.870Z',
            has_webhook: true,
            delivered: 96,
            undelivered: 12,
          },
        ],
        first_steps: { has_partner: true, has_webhook: true, has_booking: true },
      },
    ],
  },
);
export type Today = Type.Static<typeof Today>;
