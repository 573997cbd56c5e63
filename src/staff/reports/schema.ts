import Type from 'typebox';
import { date, integer, sum, text, uuid } from '#platform/lib/fields.ts';

export const DayReportQuery = Type.Object({
  from: date('The first day of the report.', '2026-11-01'),
  to: date('The day after the last day of the report. It is 1 to 31 days after `from`.', '2026-11-08'),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      type: 'string',
      default: 'json',
      description: 'The format of the response. `csv` is for a spreadsheet.',
      examples: ['json'],
    }),
  ),
});
export type DayReportQuery = Type.Static<typeof DayReportQuery>;

const CredentialDay = Type.Object(
  {
    id: uuid('The id of the credential. It may be revoked.'),
    label: text('The present label of the credential. It may be empty.'),
    orders: integer('The number of orders that the credential has placed on this day.'),
    total: sum('The sum of the totals of these orders.'),
  },
  { title: 'CredentialDay', description: 'The orders of one partner on one day.' },
);
export type CredentialDay = Type.Static<typeof CredentialDay>;

export const DAY_EXAMPLE = {
  date: '2026-11-01',
  orders: 42,
  order_total: '1204.50',
  by_credential: [
    { id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b', label: 'Demo platform', orders: 30, total: '870.00' },
    { id: '01a1b0c4-5a1e-7c3d-8b0a-0d6c2a9e4f11', label: 'City couriers', orders: 12, total: '334.50' },
  ],
  arrivals: 5,
  rooms_sold: 11,
  rooms: 20,
  room_revenue: '1090.00',
};

export const DayReport = Type.Object(
  {
    date: date('The day.'),
    orders: integer(
      'The number of orders that were placed on this day in the time zone of the tenant. Cancelled orders do not count.',
    ),
    order_total: sum(
      'The sum of the totals of these orders, in the currency of the tenant. An order in an earlier currency of the tenant adds nothing.',
    ),
    by_credential: Type.Array(CredentialDay, {
      description:
        'The orders of this day by partner, the oldest credential first. A partner without orders on this day is left out.',
    }),
    arrivals: integer(
      'The number of stays whose `check_in` is this day. A stay counts while it holds its nights: with every status except `cancelled` ' +
        'and `expired`.',
    ),
    rooms_sold: integer(
      'The number of rooms that stays hold in the night that begins on this day. Stays with the status `cancelled` or `expired` do ' +
        'not count.',
    ),
    rooms: integer(
      'The present number of rooms of all active room types. Every day has the same number, because earlier numbers are not kept.',
    ),
    room_revenue: sum(
      'The sum of the prices of this night over all stays that count, in the currency of the tenant. If the price of each night of a ' +
        'stay is not known, because an OTA or the hotel gave one amount for the whole stay, each of its nights has an equal part of the ' +
        'amount. A stay in an earlier currency of the tenant adds nothing.',
    ),
  },
  {
    title: 'DayReport',
    description:
      'The orders and the stays of one day. Without the restaurant feature, the values of orders are zero. Without the hotel feature, ' +
      'the values of stays are zero.',
    examples: [DAY_EXAMPLE],
  },
);
export type DayReport = Type.Static<typeof DayReport>;
