import { sql } from 'kysely';
import type { Db } from '#platform/db/database.ts';
import { executeByIndex, executeWithoutTableScan } from '#platform/db/transaction.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { FailingReceiver, FirstSteps, HotelToday, OpenStatus, OversoldToday, PartnerToday } from './schema.ts';

/** Largest number of unfinished orders, of deliveries of a day, and of waiting deliveries of a credential, that one call counts. */
const MAX_COUNTED = 10_000;

export interface StatusCount {
  status: OpenStatus;
  count: number;
  oldest_at: Date;
  late: number;
  oldest_late_at: Date | null;
}

/**
 * Counts the newest unfinished orders by status, from the index of unfinished orders.
 * @param late minutes after which an order is late in each status
 */
export async function countOpenOrders(
  db: Db,
  tenantId: number,
  late: Record<OpenStatus, number>,
): Promise<StatusCount[]> {
  const { rows } = await executeByIndex(
    db,
    sql<StatusCount>`
      SELECT status, count(*) AS count, min(status_changed_at) AS oldest_at,
        count(*) FILTER (WHERE is_late) AS late, min(status_changed_at) FILTER (WHERE is_late) AS oldest_late_at
      FROM (
        SELECT status, status_changed_at, now() > least(
          status_changed_at + make_interval(mins => (${JSON.stringify(late)}::jsonb ->> status)::int),
          CASE WHEN status IN ('pending', 'confirmed', 'preparing') THEN ready_by END
        ) AS is_late
        FROM restaurant_order WHERE tenant_id = ${tenantId} AND status NOT IN ('completed', 'cancelled')
        ORDER BY id DESC LIMIT ${sql.lit(MAX_COUNTED)}
      ) AS newest
      GROUP BY status`,
  );
  return rows;
}

/**
 * Counts the orders since an id, without the cancelled ones, from the covering index of the report of days.
 * @param currency only totals in this currency are added
 */
export async function sumOrders(
  db: Db,
  tenantId: number,
  { firstId, currency }: { firstId: string; currency: string },
): Promise<{ count: number; total: string }> {
  const { rows } = await executeByIndex(
    db,
    sql<{ count: number; total: string }>`
      SELECT count(*) AS count, coalesce(sum(total) FILTER (WHERE currency = ${currency}), 0.00)::text AS total
      FROM restaurant_order WHERE tenant_id = ${tenantId} AND id >= ${firstId} AND status <> 'cancelled'`,
  );
  return rows[0] as { count: number; total: string };
}

type StayCounts = Omit<HotelToday, 'date' | 'nights'>;

/**
 * Counts the stays that begin or end on a day, or whose guests are in the house. A stay of at most 31 nights began in the 31 days before, so
 * the index on check_in finds it. Another index has the few longer stays.
 */
export async function countStays(db: Db, tenantId: number, today: DateText): Promise<StayCounts> {
  const columns = sql`check_in, check_out, status, arrived_at`;
  const rows = sql`FROM reservation WHERE tenant_id = ${tenantId} AND status IN ('pending', 'confirmed', 'completed')`;
  const counted = await executeWithoutTableScan(
    db,
    sql<StayCounts>`
      SELECT count(*) FILTER (WHERE check_in = ${today}::date) AS arrivals,
        count(*) FILTER (WHERE check_in = ${today}::date AND (arrived_at IS NOT NULL OR status = 'completed')) AS arrived,
        count(*) FILTER (WHERE check_out = ${today}::date AND status <> 'pending') AS departures,
        count(*) FILTER (WHERE check_out = ${today}::date AND status = 'completed') AS departed,
        count(*) FILTER (WHERE status = 'confirmed' AND (check_in < ${today}::date OR arrived_at IS NOT NULL)) AS in_house
      FROM (
        SELECT ${columns} ${rows} AND check_in BETWEEN ${today}::date - 31 AND ${today}::date AND check_out >= ${today}::date
        UNION ALL
        SELECT ${columns} ${rows} AND check_out - check_in > 31 AND check_out >= ${today}::date AND check_in < ${today}::date - 31
      ) AS stay`,
  );
  return counted.rows[0] as StayCounts;
}

/** Adds up the capacities of the active room types, and their held rooms on each of the nights from a day on. */
export async function readNights(
  db: Db,
  tenantId: number,
  { from, count }: { from: DateText; count: number },
): Promise<HotelToday['nights']> {
  const { rows } = await executeWithoutTableScan(
    db,
    sql<HotelToday['nights'][number]>`
      SELECT ${from}::date + day.number AS date, coalesce(sum(n.held), 0) AS held, coalesce(sum(t.capacity), 0) AS capacity
      FROM generate_series(0, ${count}::int - 1) AS day (number) LEFT JOIN (
        SELECT r.id, r.physical_capacity AS capacity
        FROM room_type AS r JOIN property AS p ON p.tenant_id = ${tenantId} AND p.id = r.property_id
        WHERE r.tenant_id = ${tenantId} AND r.is_active AND p.is_active
      ) AS t ON true
      LEFT JOIN night AS n ON n.tenant_id = ${tenantId} AND n.room_type_id = t.id AND n.date = ${from}::date + day.number
      GROUP BY day.number ORDER BY day.number`,
  );
  return rows;
}

/** Finds the first oversold nights from a day on, also of inactive room types, because their stays still need rooms. */
export async function findOversold(
  db: Db,
  tenantId: number,
  { from, most }: { from: DateText; most: number },
): Promise<OversoldToday[]> {
  const { rows } = await executeWithoutTableScan(
    db,
    sql<OversoldToday>`
      SELECT r.id AS room_type_id, r.name AS room_type, n.date, r.physical_capacity AS capacity, n.held
      FROM room_type AS r JOIN property AS p ON p.tenant_id = ${tenantId} AND p.id = r.property_id
      CROSS JOIN LATERAL (
        SELECT date, held FROM night
        WHERE tenant_id = ${tenantId} AND room_type_id = r.id AND date >= ${from}::date AND held > r.physical_capacity
        ORDER BY date LIMIT ${sql.lit(most)}
      ) AS n
      WHERE r.tenant_id = ${tenantId}
      ORDER BY n.date, p.position, r.position LIMIT ${sql.lit(most)}`,
  );
  return rows;
}

export type ReceiverRow = Omit<FailingReceiver, 'since' | 'last_attempt_at'> & { since: Date; last_attempt_at: Date };

/**
 * Finds the receivers whose last attempt failed. Reads the attempts of the newest deliveries of each credential, of those that wait longest
 * for a further attempt, and of those that failed for good. So the cost does not grow with the number of deliveries. A failure of more than a
 * day ago, after which no delivery waits, is left out.
 */
export async function findFailingReceivers(db: Db, tenantId: number): Promise<ReceiverRow[]> {
  const ofCredential = sql`FROM delivery WHERE tenant_id = ${tenantId} AND credential_id = c.id`;
  const { rows } = await executeByIndex(
    db,
    sql<ReceiverRow>`
      WITH attempt AS MATERIALIZED (
        SELECT c.id AS credential_id, a.at, a.http_status, a.error
        FROM credential AS c CROSS JOIN LATERAL (
          (SELECT d.attempts FROM (
            SELECT id FROM event WHERE tenant_id = ${tenantId} AND credential_id = c.id ORDER BY feed_position DESC, id DESC LIMIT 50
          ) AS newest CROSS JOIN LATERAL (SELECT attempts FROM delivery WHERE tenant_id = ${tenantId} AND id = newest.id LIMIT 1) AS d)
          UNION ALL (SELECT attempts ${ofCredential} AND status = 'pending' AND next_attempt_at > now() ORDER BY next_attempt_at DESC LIMIT 50)
          UNION ALL (SELECT attempts ${ofCredential} AND status = 'failed' ORDER BY id DESC LIMIT 20)
        ) AS d CROSS JOIN LATERAL jsonb_to_recordset(d.attempts) AS a (at timestamptz, http_status int, error text)
        WHERE c.tenant_id = ${tenantId} AND c.is_active AND c.webhook_url <> ''
      ), success AS MATERIALIZED (
        SELECT credential_id, max(at) AS at FROM attempt WHERE error IS NULL GROUP BY credential_id
      ), failing AS MATERIALIZED (
        SELECT attempt.credential_id, min(attempt.at) AS since, max(attempt.at) AS last_attempt_at,
          (array_agg(attempt.http_status ORDER BY attempt.at DESC))[1] AS http_status,
          (array_agg(attempt.error ORDER BY attempt.at DESC))[1] AS error
        FROM attempt LEFT JOIN success ON success.credential_id = attempt.credential_id
        WHERE attempt.error IS NOT NULL AND (success.at IS NULL OR attempt.at > success.at)
        GROUP BY attempt.credential_id
      )
      SELECT c.id AS credential_id, c.label, f.since, f.last_attempt_at, f.http_status, f.error, w.waiting
      FROM failing AS f JOIN credential AS c ON c.tenant_id = ${tenantId} AND c.id = f.credential_id
      CROSS JOIN LATERAL (
        SELECT count(*) AS waiting FROM (SELECT 1 ${ofCredential} AND status = 'pending' LIMIT ${sql.lit(MAX_COUNTED)}) AS pending
      ) AS w
      WHERE w.waiting > 0 OR f.last_attempt_at > now() - interval '1 day'
      ORDER BY f.since`,
  );
  return rows;
}

export type PartnerRow = Omit<PartnerToday, 'last_used_at'> & { last_used_at: Date | null };

/** @param firstId smallest id of a delivery that counts. It contains the time of the event */
export async function readPartners(db: Db, tenantId: number, firstId: string): Promise<PartnerRow[]> {
  const { rows } = await executeByIndex(
    db,
    sql<PartnerRow>`
      WITH counted AS MATERIALIZED (
        SELECT credential_id, count(*) FILTER (WHERE status = 'delivered') AS delivered,
          count(*) FILTER (WHERE status = 'failed' OR status = 'pending' AND jsonb_array_length(attempts) > 0) AS undelivered
        FROM (
          SELECT credential_id, status, attempts FROM delivery
          WHERE tenant_id = ${tenantId} AND id >= ${firstId}
          ORDER BY id DESC LIMIT ${sql.lit(MAX_COUNTED)}
        ) AS newest
        GROUP BY credential_id
      )
      SELECT c.id AS credential_id, c.label, c.last_used_at, c.webhook_url <> '' AS has_webhook,
        coalesce(d.delivered, 0) AS delivered, coalesce(d.undelivered, 0) AS undelivered
      FROM credential AS c LEFT JOIN counted AS d ON d.credential_id = c.id
      WHERE c.tenant_id = ${tenantId} AND c.audience = 'third_party' AND c.is_active
      ORDER BY c.last_used_at DESC NULLS LAST, c.id DESC LIMIT 50`,
  );
  return rows;
}

export async function readFirstSteps(db: Db, tenantId: number): Promise<FirstSteps> {
  const ofCredential = sql`WHERE tenant_id = ${tenantId} AND credential_id = c.id`;
  const { rows } = await executeByIndex(
    db,
    sql<FirstSteps>`
      SELECT count(*) > 0 AS has_partner, coalesce(bool_or(c.webhook_url <> ''), false) AS has_webhook,
        coalesce(bool_or(b.has_booking), false) AS has_booking
      FROM credential AS c CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM restaurant_order ${ofCredential}) OR EXISTS (SELECT FROM reservation ${ofCredential}) AS has_booking
      ) AS b
      WHERE c.tenant_id = ${tenantId} AND c.audience = 'third_party'`,
  );
  return rows[0] as FirstSteps;
}
