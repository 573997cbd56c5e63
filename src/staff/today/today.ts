/** The state of the house now, in one answer: failing receivers, oversold nights, orders, stays and partners. */
import type { Staff, Tenant } from '#access/tenants/tenants.ts';
import type { Database } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { instantOf, todayIn } from '#platform/lib/dates.ts';
import { firstIdAt } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import {
  type HotelToday,
  LATE_MINUTES,
  type OpenStatus,
  type OrdersToday,
  type OversoldToday,
  type Today,
  type TodayQuery,
} from './schema.ts';
import * as store from './store.ts';

const DAY_MS = 86_400_000;
const NIGHTS = 14;
const MAX_OVERSOLD = 50;
const OPEN = Object.keys(LATE_MINUTES) as OpenStatus[];

/** Returns the parts of the present day that the caller may see. The others are null. */
export async function readToday(db: Database, staff: Staff, query: TodayQuery): Promise<Today> {
  const { tenant } = staff;
  const isOwner = staff.role === 'owner';
  const hasOrders = tenant.features.includes('restaurant') && staff.areas.includes('orders');
  const hasHotel = tenant.features.includes('hotel') && staff.areas.includes('hotel');
  const [receivers, orders, hotel, partners, first_steps] = await withRetries(() =>
    Promise.all([
      staff.areas.includes('deliveries') ? readReceivers(db, tenant.id) : null,
      hasOrders ? readOrders(db, tenant, query) : null,
      hasHotel ? readHotel(db, tenant) : null,
      isOwner ? readPartners(db, tenant.id) : null,
      isOwner ? store.readFirstSteps(db, tenant.id) : null,
    ]),
  );
  return {
    at: new Date().toISOString(),
    receivers,
    orders,
    ...(hotel ?? { hotel: null, oversold: null }),
    partners,
    first_steps,
  };
}

async function readReceivers(db: Database, tenantId: number): Promise<Today['receivers']> {
  const rows = await store.findFailingReceivers(db, tenantId);
  return rows.map(({ since, last_attempt_at, ...row }) => ({
    ...row,
    since: since.toISOString(),
    last_attempt_at: last_attempt_at.toISOString(),
  }));
}

async function readOrders(db: Database, { id, timezone, currency }: Tenant, query: TodayQuery): Promise<OrdersToday> {
  const date = todayIn(timezone);
  const firstId = firstIdAt(Date.parse(instantOf(date, '00:00', timezone)));
  const minutesIn = (status: OpenStatus) => [status, query[`late_${status}`] ?? LATE_MINUTES[status]];
  const late = Object.fromEntries(OPEN.map(minutesIn)) as Record<OpenStatus, number>;
  const [counts, { count, total }] = await Promise.all([
    store.countOpenOrders(db, id, late),
    store.sumOrders(db, id, { firstId, currency }),
  ]);
  const byStatus = new Map(counts.map((row) => [row.status, row]));
  const lateTimes = counts.flatMap(({ oldest_late_at }) => oldest_late_at?.getTime() ?? []);
  return {
    open: OPEN.map((status) => ({
      status,
      count: byStatus.get(status)?.count ?? 0,
      oldest_at: byStatus.get(status)?.oldest_at.toISOString() ?? null,
    })),
    late: {
      count: counts.reduce((sum, row) => sum + row.late, 0),
      oldest_at: lateTimes.length === 0 ? null : new Date(Math.min(...lateTimes)).toISOString(),
    },
    today: { date, count, total: formatMoney(total, currency) },
  };
}

async function readHotel(
  db: Database,
  { id, timezone }: Tenant,
): Promise<{ hotel: HotelToday; oversold: OversoldToday[] }> {
  const date = todayIn(timezone);
  const [stays, nights, oversold] = await Promise.all([
    store.countStays(db, id, date),
    store.readNights(db, id, { from: date, count: NIGHTS }),
    store.findOversold(db, id, { from: date, most: MAX_OVERSOLD }),
  ]);
  return { hotel: { date, ...stays, nights }, oversold };
}

async function readPartners(db: Database, tenantId: number): Promise<Today['partners']> {
  const rows = await store.readPartners(db, tenantId, firstIdAt(Date.now() - DAY_MS));
  return rows.map((row) => ({ ...row, last_used_at: row.last_used_at?.toISOString() ?? null }));
}
