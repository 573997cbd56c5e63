import type pg from 'pg';
import { tell } from './progress.ts';
import { withConnection } from './sql.ts';
import { LINES } from './stored.ts';

/** Number of rows of each kind that belong to the tenant whose lists are measured. */
const STAFF_ROWS = { orders: 1_000_000, stays: 500_000, events: 1_000_000, auditEntries: 300_000 };
/** Number of days over which the rows of each kind are spread. Events have less than 30 days, because older events are removed. */
const DAYS = { orders: 730, stays: 1_095, events: 29, auditEntries: 730 };
/** Number of days from today to the latest check-in date of a stay. */
const STAYS_UNTIL = 180;
const NOW_MS = Date.now();
/**
 * Number of rooms of each room type. On an average night, the stays need about this number of rooms. On some nights they need more, so
 * these nights are oversold.
 */
const ROOMS = 195;

/** SQL expressions for the tenant, and for arrays of its credentials, room types and rate plans. */
const TENANT = `(SELECT min(id) FROM tenant)`;
const PARTNERS = `(SELECT array_agg(c.id ORDER BY s.number) FROM credential AS c JOIN bench_secret AS s ON s.credential_id = c.id
  WHERE c.tenant_id = ${TENANT} AND c.audience = 'third_party')`;
const ROOM_TYPES = `(SELECT array_agg(id ORDER BY position) FROM room_type WHERE tenant_id = ${TENANT})`;
const PLANS = `(SELECT array_agg(p.id ORDER BY r.position) FROM rate_plan AS p JOIN room_type AS r ON r.tenant_id = p.tenant_id AND r.id = p.room_type_id
  WHERE p.tenant_id = ${TENANT})`;
/** One row in 1,000 has the third credential. All other rows have the first or the second credential. */
const PARTNER = `partners[CASE WHEN n % 1000 = 0 THEN 3 WHEN n % 5 < 3 THEN 1 ELSE 2 END]`;

/**
 * Stores orders, stays, events, deliveries and audit entries of the first tenant, so that its lists are as long as after years of use.
 * Fills the tables concurrently.
 */
export async function storeStaffData(url: string): Promise<void> {
  const stores = {
    orders: storeOrders,
    'stays and nights': storeStays,
    events: storeEvents,
    deliveries: storeDeliveries,
  };
  await Promise.all(
    Object.entries({ ...stores, 'audit entries': storeAuditEntries }).map(async ([what, store]) => {
      await withConnection(url, async (client) => {
        await client.query('SET session_replication_role = replica; SET synchronous_commit = off');
        await store(client);
        tell(`stored ${what}`);
      });
    }),
  );
  await withConnection(url, (client) => client.query('VACUUM (ANALYZE)'));
}

/**
 * Returns SQL for `count` rows. Each row has a number `n`, the hash of this number, a time `ms` in the last `days` days, and an id that
 * contains this time.
 */
function numbered(count: number, days: number): string {
  return `(
    SELECT n, hash, ms, (lpad(to_hex(ms), 12, '0') || '7' || left(hash, 3) || 'a' || right(hash, 15))::uuid AS id, to_timestamp(ms / 1000.0) AS at
    FROM (
      SELECT n, md5(n::text) AS hash, ${NOW_MS} - (${days}::bigint * 86400000 * (${count} - n)) / ${count} - 60000 AS ms
      FROM generate_series(1::bigint, ${count}) AS n
    ) AS made
  ) AS numbered`;
}

/** Stores orders. One in 200 is pending, one in 300 is a pick-up order, and several orders have the same phone number. */
async function storeOrders(client: pg.Client): Promise<void> {
  await client.query(
    `INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, order_type, customer_name, customer_phone, lines,
       total, currency, created_at, status_changed_at, customer_search_name, customer_digits)
     SELECT found.*, created_at, lower(translate(customer_name, 'ÁáàŁłŻż', 'AaaLlZz')),
      regexp_replace(translate(customer_phone, '٣٥١', '351'), '[^0-9]', '', 'g')
     FROM (
     SELECT ${TENANT}, id, ${PARTNER}, 'E-' || n,
       CASE WHEN n % 200 = 0 THEN 'pending' WHEN n % 7 = 0 THEN 'cancelled' ELSE 'completed' END,
       CASE WHEN n % 300 = 0 THEN 'pick_up' WHEN n % 3 = 0 THEN 'take_away' ELSE 'delivery' END,
       CASE WHEN n % 10 = 0 THEN NULL WHEN n % 9 = 0 THEN 'Ánà ' || n ELSE initcap(left(hash, 8)) END,
       CASE WHEN n % 10 = 0 THEN NULL ELSE '+351 ' || 900000000 + n % 20000 END, $1::json, 27.00, 'EUR', at
     FROM ${numbered(STAFF_ROWS.orders, DAYS.orders)}, ${PARTNERS} AS own (partners)
     ) AS found (tenant_id, id, credential_id, external_order_id, status, order_type, customer_name, customer_phone, lines,
       total, currency, created_at)`,
    [LINES],
  );
}

/**
 * Stores stays. Most stays have 1 to 6 nights, but one stay in 500 has 60 nights. Most stays come from a partner or from an online travel
 * agency (OTA), but one stay in 1,000 comes from the hotel itself. One stay in 1,000 has the last room type.
 */
async function storeStays(client: pg.Client): Promise<void> {
  const { stays } = STAFF_ROWS;
  await client.query(
    `INSERT INTO reservation (tenant_id, id, natural_id, credential_id, external_reservation_id, external_source, external_id, status,
       room_type_id, rate_plan_id, check_in, check_out, guests, guest_name, guest_phone, guest_email, total_amount,
       currency, created_at, changed_at, guest_search_name, guest_digits, guest_search_email)
     SELECT found.*, lower(translate(guest_name, 'ÁáàŁłŻż', 'AaaLlZz')),
      regexp_replace(translate(guest_phone, '٣٥١', '351'), '[^0-9]', '', 'g'), lower(guest_email)
     FROM (
     SELECT ${TENANT}, id, 'N' || n, CASE source WHEN 'partner' THEN ${PARTNER} END, CASE source WHEN 'partner' THEN 'P' || n END,
       CASE source WHEN 'ota' THEN 'an-ota' END, CASE source WHEN 'ota' THEN 'O' || n END,
       CASE WHEN n % 500 = 7 THEN 'pending' WHEN n % 9 = 0 THEN 'cancelled' WHEN day >= current_date THEN 'confirmed' ELSE 'completed' END,
       room_types[room], plans[room], day, day + (CASE WHEN n % 500 = 11 THEN 60 ELSE 1 + n % 6 END)::int, 2,
       CASE WHEN n % 1000 = 5 THEN 'Łucja Żak' ELSE initcap(left(hash, 8)) || ' ' || n END, '+351 ' || 900000000 + n, 'g' || n % 20000 || '@example.com',
       285.00, 'EUR', at, CASE WHEN n % 1000 = 9 THEN now() ELSE at END
     FROM (
       SELECT *, CASE WHEN n % 1000 = 0 THEN 'house' WHEN n % 5 < 3 THEN 'partner' ELSE 'ota' END AS source,
         CASE WHEN n % 1000 = 3 THEN 8 ELSE 1 + (n / 7 % 7)::int END AS room,
         current_date + ${STAYS_UNTIL} - (${DAYS.stays}::bigint * (${stays} - n) / ${stays})::int AS day
       FROM ${numbered(stays, DAYS.stays)}
     ) AS stay, ${PARTNERS} AS own (partners), ${ROOM_TYPES} AS rooms (room_types), ${PLANS} AS priced (plans)
     ) AS found (tenant_id, id, natural_id, credential_id, external_reservation_id, external_source, external_id, status,
       room_type_id, rate_plan_id, check_in, check_out, guests, guest_name, guest_phone, guest_email, total_amount,
       currency, created_at, changed_at)`,
  );
  await storeNights(client);
}

/** Stores the number of rooms that the stays hold on each night. */
async function storeNights(client: pg.Client): Promise<void> {
  await client.query(`UPDATE room_type SET physical_capacity = ${ROOMS} WHERE tenant_id = ${TENANT}`);
  await client.query(`DELETE FROM night WHERE tenant_id = ${TENANT}`);
  await client.query(
    `INSERT INTO night (tenant_id, room_type_id, date, held)
     SELECT tenant_id, room_type_id, check_in + night, count(*)
     FROM reservation CROSS JOIN LATERAL generate_series(0, check_out - check_in - 1) AS night
     WHERE tenant_id = ${TENANT} AND status <> 'cancelled' GROUP BY tenant_id, room_type_id, check_in + night`,
  );
}

/**
 * Stores events. Most events are status changes of orders. One in 500 is a change of a stay, and one in 50 is the booking of a stay. Only
 * the 11 oldest events are cancellations of stays. So a filter by this type finds few events, and all of them are old.
 */
async function storeEvents(client: pg.Client): Promise<void> {
  await client.query(
    `INSERT INTO event (tenant_id, id, credential_id, type, body, created_at, subject)
     SELECT ${TENANT}, id, ${PARTNER}, CASE WHEN n < 12 THEN 'reservation.cancelled' WHEN n % 500 = 1 THEN 'reservation.modified'
         WHEN n % 50 = 0 THEN 'reservation.created' ELSE 'order.status_changed' END,
       json_build_object('event', 'order.status_changed', 'event_id', id, 'occurred_at', at, 'data',
         json_build_object('order_id', id, 'external_order_id', 'E-' || n, 'status', 'completed')), at,
       json_build_object('type', 'order', 'id', id, 'external_id', 'E-' || n)
     FROM ${numbered(STAFF_ROWS.events, DAYS.events)}, ${PARTNERS} AS own (partners)`,
  );
}

/** Stores the deliveries of the events. One in 300 has failed. */
async function storeDeliveries(client: pg.Client): Promise<void> {
  await client.query(
    `INSERT INTO delivery (tenant_id, id, credential_id, status, attempt_count, attempts, next_attempt_at, claimed_at)
     SELECT ${TENANT}, id, ${PARTNER}, CASE WHEN n % 300 = 0 THEN 'failed' ELSE 'delivered' END, 1,
       json_build_array(json_build_object('at', at, 'http_status', 200, 'duration_ms', n % 200, 'error', NULL)), at, at
     FROM ${numbered(STAFF_ROWS.events, DAYS.events)}, ${PARTNERS} AS own (partners)`,
  );
}

/**
 * Stores audit entries. One entry in 400 has a rare action, and one entry in 1,000 has a rare actor. There are 150 entries for each
 * subject. The subject is the object that an entry is about.
 */
async function storeAuditEntries(client: pg.Client): Promise<void> {
  await client.query(
    `INSERT INTO audit_entry (tenant_id, id, at, actor_type, actor_id, action, subject, details)
     SELECT ${TENANT}, id, at, 'credential', ${PARTNER}, CASE WHEN n % 400 = 0 THEN 'pause.started' ELSE 'rates.written' END,
       'subject ' || n % 2000, '{}'
     FROM ${numbered(STAFF_ROWS.auditEntries, DAYS.auditEntries)}, ${PARTNERS} AS own (partners)`,
  );
}
