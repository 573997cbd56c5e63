import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import { type KeysetList, keysetList, type ListOrder, NEWEST_FIRST } from '#platform/db/keyset-list.ts';
import { beginsWith, folded, hasDigitsOf } from '#platform/db/search-text.ts';
import type { DB } from '#platform/db/types.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { ReservationStatus } from './reservation-status.ts';
import type { ReservationSource } from './source.ts';
import type { ReservationRow } from './store.ts';

/** Filter of a list of reservations. A missing field lets all reservations of the tenant pass. A filter by an unknown id lets none pass. */
export interface ReservationFilter {
  tenantId: number;
  status?: ReservationStatus | undefined;
  credentialId?: string | undefined;
  source?: ReservationSource | undefined;
  roomTypeId?: string | undefined;
  /** Room types of the property. An empty list lets no reservation pass. */
  roomTypeIds?: string[] | undefined;
  arrivingOn?: DateText | undefined;
  departingOn?: DateText | undefined;
  /** Day on which the guests sleep in the hotel. */
  stayingOn?: DateText | undefined;
  /** Lets reservations pass that have changed, or were booked, at this time or later. */
  changedSince?: Date | undefined;
  naturalId?: string | undefined;
  /** Id of the partner or of the OTA. */
  externalId?: string | undefined;
  email?: string | undefined;
  /** Telephone number. Only its digits are compared. */
  phone?: string | undefined;
  /** Begin of the name of the guest, without case and accents. */
  name?: string | undefined;
  ids?: string[] | undefined;
}

type Query<Row = object> = SelectQueryBuilder<DB, 'reservation', Row>;

/** Row of a reservation with the label of the credential that booked it. Null if no partner booked it. */
export type LabelledRow = ReservationRow & { credential_label: string | null };

/** Returns the list of reservations that pass the filter, newest first. */
export function listReservations(db: Database, filter: ReservationFilter): KeysetList<ReservationRow> {
  return keysetList(db, filtered(db, filter, false), (reservations) => reservations.selectAll());
}

/** Returns the list as `listReservations` does, with the labels of the credentials, in one of two orders. */
export async function listForStaff(
  db: Database,
  filter: ReservationFilter,
  order: 'newest' | 'check_in',
): Promise<KeysetList<LabelledRow>> {
  return keysetList(
    db,
    filtered(db, filter, await isNarrow(db, filter)),
    (reservations) => reservations.selectAll().select(labelOf(filter.tenantId)),
    order === 'newest' ? NEWEST_FIRST : byArrival(filter.tenantId),
  );
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
    sort: (rows) => rows.orderBy(sql.ref('check_in')).orderBy(sql.ref('id')),
    after: (rows, id) =>
      rows.where(sql<boolean>`
        (check_in, id) >
        ((SELECT r.check_in FROM reservation AS r WHERE r.tenant_id = ${tenantId} AND r.id = ${id}), ${id}::uuid)
      `),
  };
}

/** Reads reservations with the latest check-in first. If two have the same check-in, the newest reservation comes first. */
export async function readByCheckIn(db: Database, filter: ReservationFilter, limit: number): Promise<ReservationRow[]> {
  return await filtered(db, filter, false)
    .selectAll()
    .orderBy('check_in', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Number of reservations up to which a subquery for their ids is cheaper than reading the list in its order. */
const FEW = 10_000;

/**
 * Returns the query for the reservations that pass the filter.
 * @param passFew true if few reservations pass. Their ids are then a subquery. Without the subquery, the planner may read all reservations of
 * the tenant in the order of the list until enough of them pass, because it does not know that, for example, the stays of one day were booked
 * at about the same time
 */
function filtered(db: Database, filter: ReservationFilter, passFew: boolean): Query {
  const reservations = db.selectFrom('reservation').where('tenant_id', '=', filter.tenantId);
  const passing = withMarks(withLists(reservations, filter), filter);
  return passFew ? reservations.where(sql<boolean>`id = ANY (ARRAY${passing.select('id')})`) : passing;
}

/** Returns true if few reservations pass the filter. Counts them only if the filter alone does not tell. */
async function isNarrow(db: Database, filter: ReservationFilter): Promise<boolean> {
  const { tenantId, departingOn, stayingOn, changedSince, naturalId, externalId, email, phone, name, ids } = filter;
  if ([departingOn, stayingOn, naturalId, externalId, email, phone, ids].some((value) => value !== undefined)) {
    return true;
  }
  const range =
    name !== undefined
      ? { condition: beginsWith(sql`guest_name`, name), by: folded(sql`guest_name`) }
      : changedSince !== undefined
        ? { condition: changedAfter(changedSince), by: CHANGED_AT }
        : null;
  if (range === null) {
    return false;
  }
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM (
      SELECT id FROM reservation WHERE tenant_id = ${tenantId} AND ${range.condition} ORDER BY ${range.by} LIMIT ${FEW}
    ) AS first
  `.execute(db);
  return (rows[0]?.count ?? 0) < FEW;
}

/** Adds the filters whose index has the order of the list. */
function withLists(
  rows: Query,
  { status, credentialId, source, roomTypeId, roomTypeIds, arrivingOn }: ReservationFilter,
): Query {
  const conditions = [
    status !== undefined && sql<boolean>`status = ${status}`,
    credentialId !== undefined && sql<boolean>`credential_id = ${credentialId}::uuid`,
    source !== undefined && OF_SOURCE[source],
    roomTypeId !== undefined && sql<boolean>`room_type_id = ${roomTypeId}::uuid`,
    roomTypeIds !== undefined && sql<boolean>`room_type_id = ANY (${roomTypeIds}::uuid[])`,
    arrivingOn !== undefined && sql<boolean>`check_in = ${arrivingOn}::date`,
  ];
  return conditions.filter((condition) => condition !== false).reduce((query, each) => query.where(each), rows);
}

/** Adds the filters by a mark of the stay, for example its guest, or by a range of times. */
function withMarks(rows: Query, filter: ReservationFilter): Query {
  const { tenantId, departingOn, stayingOn, changedSince, naturalId, externalId, email, phone, name, ids } = filter;
  const conditions = [
    departingOn !== undefined && departsOn(departingOn),
    stayingOn !== undefined && coversNight(stayingOn),
    changedSince !== undefined && changedAfter(changedSince),
    naturalId !== undefined && sql<boolean>`natural_id = ${naturalId}`,
    externalId !== undefined && hasExternalId(tenantId, externalId),
    email !== undefined && sql<boolean>`guest_email = ${email}`,
    phone !== undefined && hasDigitsOf(sql`guest_phone`, phone),
    name !== undefined && beginsWith(sql`guest_name`, name),
    ids !== undefined && sql<boolean>`id = ANY (${ids}::uuid[])`,
  ];
  return conditions.filter((condition) => condition !== false).reduce((query, each) => query.where(each), rows);
}

/** Conditions of the sources, as the partial indexes have them. */
const OF_SOURCE: Record<ReservationSource, RawBuilder<boolean>> = {
  partner: sql`credential_id IS NOT NULL`,
  ota: sql`external_source IS NOT NULL`,
  house: sql`credential_id IS NULL AND external_source IS NULL`,
};

/**
 * Returns the condition that a stay covers the night. A stay of at most 31 nights began in the 31 days before, so an index on check_in finds
 * it. Another index has the few longer stays.
 */
export function coversNight(night: DateText) {
  return sql<boolean>`(
    check_in BETWEEN ${night}::date - 30 AND ${night}::date AND check_out > ${night}::date
    OR check_out - check_in > 31 AND check_out > ${night}::date AND check_in <= ${night}::date
  )`;
}

const CHANGED_AT = sql`coalesce(changed_at, created_at)`;

function changedAfter(time: Date) {
  return sql<boolean>`${CHANGED_AT} >= ${time}::timestamptz`;
}

function departsOn(day: DateText) {
  return sql<boolean>`(
    check_in BETWEEN ${day}::date - 31 AND ${day}::date AND check_out = ${day}::date
    OR check_out - check_in > 31 AND check_out = ${day}::date
  )`;
}

/** Each external id of a partner is indexed with its credential, so the condition names all credentials of the tenant. */
function hasExternalId(tenantId: number, externalId: string) {
  return sql<boolean>`(
    credential_id = ANY (ARRAY(SELECT c.id FROM credential AS c WHERE c.tenant_id = ${tenantId}))
      AND external_reservation_id = ${externalId}
    OR external_id = ${externalId}
  )`;
}
