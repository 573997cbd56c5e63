import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { type KeysetList, keysetList, type ListOrder, NEWEST_FIRST, type PageForm } from '#platform/db/keyset-list.ts';
import { executeWithoutTableScan } from '#platform/db/transaction.ts';
import { digitsOf } from '#platform/lib/unicode.ts';
import { beginsWith, searchEmail } from '#platform/db/search-text.ts';
import type { DB } from '#platform/db/types.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { ReservationStatus } from './reservation-status.ts';
import type { ReservationSource } from './source.ts';
import type { ReservationRow } from './store.ts';

/**
 * Filter of a list of reservations. A missing field lets all reservations of the tenant pass. A filter by an unknown id lets no reservation
 * pass.
 */
export interface ReservationFilter {
  tenantId: number;
  status?: ReservationStatus | undefined;
  credentialId?: string | undefined;
  source?: ReservationSource | undefined;
  roomTypeId?: string | undefined;
  /**
   * Ids of all room types of one property. Only reservations of these room types pass. If the array is empty, no reservation passes. If
   * undefined, all room types pass.
   */
  roomTypeIds?: string[] | undefined;
  arrivingOn?: DateText | undefined;
  departingOn?: DateText | undefined;
  /** Day on which a night begins. Only stays that include this night pass the filter. */
  stayingOn?: DateText | undefined;
  /** Earliest time of the last change. If a reservation has never changed, the time of its booking counts. */
  changedSince?: Date | undefined;
  naturalId?: string | undefined;
  /** Id that the partner or the OTA gave to the reservation. */
  externalId?: string | undefined;
  email?: string | undefined;
  /** Digits of the telephone number, from 0 to 9. */
  phone?: string | undefined;
  /** Beginning of the name of the guest. Case and accents are ignored. */
  name?: string | undefined;
  ids?: string[] | undefined;
}

type Query<Row = object> = SelectQueryBuilder<DB, 'reservation', Row>;

/** Row of a reservation with the label of the credential that booked it. The label is null if no partner booked the reservation. */
export type LabelledRow = ReservationRow & { credential_label: string | null };

/** Returns the list of reservations that pass the filter, newest first. */
export function listReservations(db: Database, filter: ReservationFilter): KeysetList<ReservationRow> {
  return keysetList(db, filtered(db, filter), (reservations) => reservations.selectAll());
}

/**
 * Returns the list of reservations that pass the filter, each with the label of its credential. `order` tells which reservation is first:
 * the newest, or the one with the earliest check-in.
 */
export async function listForStaff(
  db: Database,
  filter: ReservationFilter,
  order: 'newest' | 'check_in',
): Promise<KeysetList<LabelledRow>> {
  const rows = filtered(db, filter);
  const select = (reservations: Query) => reservations.selectAll().select(labelOf(filter.tenantId));
  const listOrder = order === 'newest' ? NEWEST_FIRST : byArrival(filter.tenantId);
  if (await isNarrow(db, filter, order)) {
    // The subquery makes PostgreSQL begin with the few reservations that pass the filter. Without the subquery, PostgreSQL may read the
    // reservations of the tenant in the order of the list until a page is full. If the reservations that pass are at the end of the list,
    // PostgreSQL would read most reservations of the tenant.
    const passing = allOf(db, filter).where(sql<boolean>`id = ANY (ARRAY${rows.select('id')})`);
    return keysetList(db, passing, select, listOrder, { form: 'few', rows });
  }
  const pages: PageForm<'reservation'> = hasOwnIndex(filter, order)
    ? { form: 'in order' }
    : { form: 'covered', rows: allOf(db, filter).where(inCoveringIndex(filter)) };
  return keysetList(db, rows, select, listOrder, pages);
}

export async function findForStaff(db: Db, tenantId: number, id: string): Promise<LabelledRow | undefined> {
  return await db
    .selectFrom('reservation')
    .selectAll()
    .select(labelOf(tenantId))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

function labelOf(tenantId: number) {
  return sql<string | null>`
    (SELECT c.label FROM credential AS c WHERE c.tenant_id = ${tenantId} AND c.id = reservation.credential_id)
  `.as('credential_label');
}

/** Order by check-in, the earliest first. Of two stays with the same check-in, the older booking comes first. */
function byArrival(tenantId: number): ListOrder {
  return {
    firstColumn: 'check_in',
    sort: (rows) => rows.orderBy(sql.ref('check_in')).orderBy(sql.ref('id')),
    after: (rows, id) =>
      rows.where(sql<boolean>`
        (check_in, id) >
        ((SELECT r.check_in FROM reservation AS r WHERE r.tenant_id = ${tenantId} AND r.id = ${id}), ${id}::uuid)
      `),
  };
}

/**
 * Number of reservations that decides how a list is read. If fewer reservations than this number pass one condition of the filter, the list
 * first reads the ids of all reservations that pass the whole filter. Otherwise the list scans the covering index `reservation_for_lists`,
 * because this scan is then cheaper.
 */
const FEW = 5_000;

/** Reads reservations with the latest check-in first. Of two reservations with the same check-in, the newer one comes first. */
export async function readByCheckIn(db: Database, filter: ReservationFilter, limit: number): Promise<ReservationRow[]> {
  return await filtered(db, filter)
    .selectAll()
    .orderBy('check_in', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

function allOf(db: Database, { tenantId }: ReservationFilter): Query {
  return db.selectFrom('reservation').where('tenant_id', '=', tenantId);
}

/** Returns the query for the reservations that pass the filter. */
function filtered(db: Database, filter: ReservationFilter): Query {
  const conditions = [...wideConditions(filter), ...narrowConditions(filter)];
  return conditions.reduce((query, condition) => query.where(condition), allOf(db, filter));
}

/**
 * Returns true if the list should first read the ids of all reservations that pass the filter. This is fast if only few pass and an index
 * finds them. The first of these rules that applies gives the result:
 * - True if the filter has one of the `narrowConditions`, for example a guest. Few reservations pass such a condition.
 * - False if one index contains the reservations that pass, in the order of the list (`hasOwnIndex`). The list can read this index
 *   directly.
 * - Otherwise true if fewer than `FEW` reservations pass one of the `wideConditions`, for example a status. Only this rule counts
 *   reservations.
 */
async function isNarrow(db: Database, filter: ReservationFilter, order: 'newest' | 'check_in'): Promise<boolean> {
  if (narrowConditions(filter).length > 0 || hasOwnIndex(filter, order)) {
    return narrowConditions(filter).length > 0;
  }
  const counts = wideConditions(filter).map(
    (condition) => sql`
      (SELECT count(*) FROM (SELECT FROM reservation WHERE tenant_id = ${filter.tenantId} AND ${condition} LIMIT ${FEW}) AS first)
    `,
  );
  const { rows } = await executeWithoutTableScan(
    db,
    sql<{ count: number }>`SELECT least(${sql.join(counts)})::int4 AS count`,
  );
  return (rows[0]?.count ?? 0) < FEW;
}

/** Returns true if one index finds the reservations that pass the filter, and contains them in the order of the list. */
function hasOwnIndex(filter: ReservationFilter, order: 'newest' | 'check_in'): boolean {
  const { status, roomTypeIds, changedSince } = filter;
  const conditions = wideConditions(filter);
  if (order === 'check_in') {
    return conditions.length === 0 || (conditions.length === 1 && status !== undefined);
  }
  return conditions.length <= 1 && roomTypeIds === undefined && changedSince === undefined;
}

/**
 * Returns the `wideConditions` as one condition of the form `(… AND …) IS TRUE`. PostgreSQL cannot search an index by a condition of this
 * form. But it can check the condition for each entry of an index that contains all columns of the condition. The index
 * `reservation_for_lists` contains all these columns, so the planner uses this index. Without `IS TRUE`, the planner might search an index
 * on only one of the columns. That is slow, because PostgreSQL would read the other columns from the table.
 */
function inCoveringIndex(filter: ReservationFilter): RawBuilder<boolean> {
  return sql<boolean>`(${sql.join(wideConditions(filter), sql` AND `)}) IS TRUE`;
}

/** Returns the conditions of the filter that many reservations may pass, for example a status. */
function wideConditions(filter: ReservationFilter): RawBuilder<boolean>[] {
  const { status, credentialId, source, roomTypeId, roomTypeIds, changedSince } = filter;
  const conditions = [
    status !== undefined && sql<boolean>`status = ${status}`,
    credentialId !== undefined && sql<boolean>`credential_id = ${credentialId}::uuid`,
    source !== undefined && OF_SOURCE[source],
    roomTypeId !== undefined && sql<boolean>`room_type_id = ${roomTypeId}::uuid`,
    roomTypeIds !== undefined && sql<boolean>`room_type_id = ANY (${roomTypeIds}::uuid[])`,
    changedSince !== undefined && changedAfter(changedSince),
  ];
  return conditions.filter((condition) => condition !== false);
}

/** Returns the narrow conditions of the filter. Few reservations pass a narrow condition, for example a guest or a day of arrival. */
function narrowConditions(filter: ReservationFilter): RawBuilder<boolean>[] {
  const { tenantId, arrivingOn, departingOn, stayingOn, naturalId, externalId, email, phone, name, ids } = filter;
  const conditions = [
    arrivingOn !== undefined && sql<boolean>`check_in = ${arrivingOn}::date`,
    departingOn !== undefined && departsOn(departingOn),
    stayingOn !== undefined && coversNight(stayingOn),
    naturalId !== undefined && sql<boolean>`natural_id = ${naturalId}`,
    externalId !== undefined && hasExternalId(tenantId, externalId),
    email !== undefined && sql<boolean>`guest_search_email = ${searchEmail(email)}`,
    phone !== undefined && sql<boolean>`guest_digits = ${digitsOf(phone)}`,
    name !== undefined && beginsWith(sql`guest_search_name`, name),
    ids !== undefined && sql<boolean>`id = ANY (${ids}::uuid[])`,
  ];
  return conditions.filter((condition) => condition !== false);
}

/** Condition for each source, in the same form as in the partial indexes, so that PostgreSQL can use these indexes. */
const OF_SOURCE: Record<ReservationSource, RawBuilder<boolean>> = {
  partner: sql`credential_id IS NOT NULL`,
  ota: sql`external_source IS NOT NULL`,
  house: sql`credential_id IS NULL AND external_source IS NULL`,
};

/**
 * Returns the condition that a stay includes the night. If a stay has at most 31 nights, it began at most 30 days before the night, so an
 * index on check_in finds it. Another index contains only the few longer stays.
 */
export function coversNight(night: DateText) {
  return sql<boolean>`(
    check_in BETWEEN ${night}::date - 30 AND ${night}::date AND check_out > ${night}::date
    OR check_out - check_in > 31 AND check_out > ${night}::date AND check_in <= ${night}::date
  )`;
}

const CHANGED_AT = sql`changed_at`;

function changedAfter(time: Date) {
  return sql<boolean>`${CHANGED_AT} >= ${time}::timestamptz`;
}

function departsOn(day: DateText) {
  return sql<boolean>`(
    check_in BETWEEN ${day}::date - 31 AND ${day}::date AND check_out = ${day}::date
    OR check_out - check_in > 31 AND check_out = ${day}::date
  )`;
}

/**
 * Returns the condition that a partner or an OTA gave this id to the reservation. The ids of partners are in the column
 * `external_reservation_id`, and the ids of OTAs are in `external_id`.
 *
 * The index for the ids of partners has the columns `tenant_id`, `credential_id` and `external_reservation_id`, in this order. PostgreSQL
 * can search this index for an `external_reservation_id` only together with a `credential_id`. So the condition also compares
 * `credential_id` with the ids of all credentials of the tenant.
 */
function hasExternalId(tenantId: number, externalId: string) {
  return sql<boolean>`(
    credential_id = ANY (ARRAY(SELECT c.id FROM credential AS c WHERE c.tenant_id = ${tenantId}))
      AND external_reservation_id = ${externalId}
    OR external_id = ${externalId}
  )`;
}
