import { sql } from 'kysely';
import { HOLDING_STATUSES } from '#hotel/reservations/reservations.ts';
import type { Db } from '#platform/db/database.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { CredentialDay } from './schema.ts';

interface OrderDay {
  /** Number of the day in the range of the report. The first day has the number 1. */
  day: number;
  orders: number;
  /** Sum of the totals of the orders, with two decimals. */
  order_total: string;
  by_credential: CredentialDay[];
}

/**
 * Cancelled orders are left out. A day without orders has no row. The query reads one range of a covering index for each day, which is
 * faster than to read all days together and to group.
 * @param bounds the smallest id of each day, and at the end the smallest id after the last day. An id contains the time of its order.
 * @param currency only totals in this currency are added
 */
export async function readOrderDays(db: Db, tenantId: number, currency: string, bounds: string[]): Promise<OrderDay[]> {
  const { rows } = await sql<OrderDay>`
    SELECT d.day::int, sum(g.orders)::bigint AS orders, sum(g.total)::text AS order_total, json_agg(
      json_build_object('id', c.id, 'label', c.label, 'orders', g.orders, 'total', g.total::text) ORDER BY c.id
    ) AS by_credential
    FROM unnest(${bounds.slice(0, -1)}::uuid[], ${bounds.slice(1)}::uuid[]) WITH ORDINALITY AS d (first_id, next_id, day)
    CROSS JOIN LATERAL (
      SELECT credential_id, count(*) AS orders, coalesce(sum(total) FILTER (WHERE currency = ${currency}), 0.00) AS total
      FROM restaurant_order
      WHERE tenant_id = ${tenantId} AND id >= d.first_id AND id < d.next_id AND status <> 'cancelled'
      GROUP BY credential_id
    ) AS g
    JOIN credential AS c ON c.tenant_id = ${tenantId} AND c.id = g.credential_id
    GROUP BY d.day
  `.execute(db);
  return rows;
}

interface StayDay {
  date: DateText;
  arrivals: number;
  rooms_sold: number;
  /** Sum of the prices of this night over all stays, in cents. */
  revenue_cents: number;
}

const HOLDING = [...HOLDING_STATUSES];

/**
 * Counts the arrivals and the rooms of each night, and adds up the prices of the night. A day without stays has no row. The price of a
 * night depends on the stay:
 * - If the stay has a price for each night, the query uses this price.
 * - Otherwise the query divides the total amount of the stay equally among its nights, in whole units of the currency. For example, an OTA may give only a
 *   total amount. The parts add up to the amount.
 *
 * Two conditions find the stays that have a night in the report, because each of them can use an index:
 * - A stay of at most 31 nights begins at most 30 days before the first day of the report. So an index on check_in finds it.
 * - Another index has the few longer stays.
 *
 * The inner query converts each amount to whole cents, because calculations with decimals are slow. `OFFSET 0` makes PostgreSQL convert
 * each amount once, and not again for each night.
 * @param tenant only amounts in its currency are added
 * @param range days of the report, and the unit: the smallest amount of the currency, in cents
 */
export async function readStayDays(
  db: Db,
  { id: tenantId, currency }: { id: number; currency: string },
  { from, to, unit }: { from: DateText; to: DateText; unit: number },
): Promise<StayDay[]> {
  const { rows } = await sql<StayDay>`
    SELECT date, count(*) FILTER (WHERE night = 0) AS arrivals, count(*) AS rooms_sold,
      sum(cents)::bigint AS revenue_cents
    FROM (
      SELECT s.check_in + n.night AS date, n.night, CASE
          WHEN s.has_prices THEN (s.nightly_prices[n.night + 1]::numeric * 100)::bigint
          ELSE ${unit}::bigint * (s.units * (n.night + 1) / s.nights - s.units * n.night / s.nights)
        END AS cents
      FROM (
        SELECT check_in, check_out, check_out - check_in AS nights, nightly_prices,
          coalesce(cardinality(nightly_prices) = check_out - check_in, false) AND currency = ${currency} AS has_prices,
          CASE WHEN currency <> ${currency} THEN 0 ELSE (total_amount * 100 / ${unit}::bigint)::bigint END AS units
        FROM reservation
        WHERE tenant_id = ${tenantId} AND status = ANY (${HOLDING}) AND (
          check_in BETWEEN ${from}::date - 30 AND ${to}::date - 1 AND check_out > ${from}::date
          OR check_out - check_in > 31 AND check_out > ${from}::date AND check_in < ${to}::date
        )
        OFFSET 0
      ) AS s CROSS JOIN LATERAL generate_series(
        greatest(${from}::date - s.check_in, 0), least(s.check_out, ${to}::date) - s.check_in - 1
      ) AS n (night)
    ) AS stay_night
    GROUP BY date
  `.execute(db);
  return rows;
}

export async function countRooms(db: Db, tenantId: number): Promise<number> {
  const { rows } = await sql<{ rooms: number }>`
    SELECT coalesce(sum(r.physical_capacity), 0)::bigint AS rooms
    FROM room_type AS r JOIN property AS p ON p.tenant_id = ${tenantId} AND p.id = r.property_id
    WHERE r.tenant_id = ${tenantId} AND r.is_active AND p.is_active
  `.execute(db);
  return rows[0]?.rooms ?? 0;
}
