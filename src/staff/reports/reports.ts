/** Numbers of orders and stays by day, as JSON and CSV. */
import type { Tenant } from '#access/tenants/tenants.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { invalidField } from '#platform/errors.ts';
import { type CsvCell, csvOf } from '#platform/lib/csv.ts';
import { countNights, type DateText, instantOf, nightsOf } from '#platform/lib/dates.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { formatCents, formatMoney, roundCents, unitOf } from '#platform/lib/money.ts';
import type { DayReport, DayReportQuery } from './schema.ts';
import { countRooms, readOrderDays, readStayDays } from './store.ts';

const MAX_DAYS = 31;

type ReportRange = Pick<DayReportQuery, 'from' | 'to'>;

function checkRange({ from, to }: ReportRange): void {
  const days = countNights(from, to);
  if (days < 1) {
    throw invalidField('to', 'must be after `from`');
  }
  if (days > MAX_DAYS) {
    throw invalidField('to', `must be at most ${MAX_DAYS} days after \`from\``);
  }
}

/**
 * Returns the orders and the stays of each day. The days of orders are days in the time zone of the tenant. The nights of a stay are dates
 * at its property. @throws ApiError 400 `invalid_request` if the range has no day or more than 31 days
 */
export async function reportDays(db: Database, tenant: Tenant, range: ReportRange): Promise<DayReport[]> {
  checkRange(range);
  const [orders, stays] = await Promise.all([readOrders(db, tenant, range), readStays(db, tenant, range)]);
  return nightsOf(range.from, range.to).map((date, index) => ({ date, ...orders(index), ...stays(date) }));
}

async function readOrders(db: Database, tenant: Tenant, { from, to }: ReportRange) {
  const bounds = [...nightsOf(from, to), to].map((day) => firstIdOf(day, tenant.timezone));
  const days = tenant.features.includes('restaurant')
    ? await withRetries(() => readOrderDays(db, tenant.id, tenant.currency, bounds))
    : [];
  const money = (amount: string) => formatMoney(amount, tenant.currency);
  const byDay = new Map(
    days.map(({ day, orders, order_total, by_credential }) => [
      day,
      {
        orders,
        order_total: money(order_total),
        by_credential: by_credential.map((each) => ({ ...each, total: money(each.total) })),
      },
    ]),
  );
  return (index: number) => byDay.get(index + 1) ?? { orders: 0, order_total: '0.00', by_credential: [] };
}

/** A day begins at its first 00:00, or after the time that a clock change skips. For a day before 1970, returns the smallest id of all. */
function firstIdOf(day: DateText, timezone: string): string {
  return firstIdAt(Math.max(0, Date.parse(instantOf(day, '00:00', timezone))));
}

async function readStays(db: Database, tenant: Tenant, range: ReportRange) {
  const unit = unitOf(tenant.currency);
  const [days, rooms] = tenant.features.includes('hotel')
    ? await Promise.all([
        withRetries(() => readStayDays(db, tenant, { ...range, unit })),
        withRetries(() => countRooms(db, tenant.id)),
      ])
    : [[], 0];
  const byDate = new Map(days.map((day) => [day.date, day]));
  return (date: DateText) => {
    const { arrivals, rooms_sold, revenue_cents } = byDate.get(date) ?? {
      arrivals: 0,
      rooms_sold: 0,
      revenue_cents: 0,
    };
    return { arrivals, rooms_sold, rooms, room_revenue: formatCents(roundCents(revenue_cents, unit)) };
  };
}

const HEADER = [
  'date',
  'orders',
  'order_total',
  'arrivals',
  'rooms_sold',
  'rooms',
  'room_revenue',
  'credential_id',
  'credential_label',
  'credential_orders',
  'credential_total',
];

/**
 * Each day has one row with its totals, and then one row for each partner. The columns of the others are empty, so the sum of a column counts
 * no order twice.
 */
export function daysAsCsv(days: DayReport[]): string {
  return csvOf([HEADER, ...days.flatMap(rowsOf)]);
}

function rowsOf(day: DayReport): CsvCell[][] {
  const { date, orders, order_total, arrivals, rooms_sold, rooms, room_revenue } = day;
  const values = [orders, order_total, arrivals, rooms_sold, rooms, room_revenue];
  const partners = day.by_credential.map(({ id, label, orders: count, total }) => [id, label, count, total]);
  return [
    [date, ...values, null, null, null, null],
    ...partners.map((partner) => [date, ...values.map(() => null), ...partner]),
  ];
}
