import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from '#platform/db/database.ts';
import {
  beginsWith,
  given,
  type Indexed,
  type KeysetList,
  NEWEST_FIRST,
  type Search,
} from '#platform/db/keyset-list.ts';
import { digitsOf, searchEmail } from '#platform/lib/unicode.ts';
import { type WholeList, wholeList } from '#platform/db/whole-list.ts';
import type { DateText } from '#platform/lib/dates.ts';
import type { ReservationSource, ReservationStatus } from './reservation-status.ts';
import type { ReservationFilter } from './staff-query.ts';
import type { ReservationRow } from './store.ts';

export type LabelledRow = ReservationRow & { credential_label: string | null };

export function listOfCredential(
  db: Database,
  { tenantId, credentialId }: { tenantId: number; credentialId: string },
): WholeList<ReservationRow> {
  const all = db.selectFrom('reservation').where('tenant_id', '=', tenantId);
  return wholeList(db, all.where('credential_id', '=', credentialId), (reservations) => reservations.selectAll());
}

const BY_CHECK_IN = {
  name: 'reservations:check_in',
  key: [
    { name: 'check_in', type: 'date' },
    { name: 'id', type: 'uuid' },
  ],
  direction: 'ASC',
} as const satisfies Partial<KeysetList<unknown>>;

export function listForStaff(tenantId: number, filter: ReservationFilter): KeysetList<LabelledRow> {
  const { status, source, credential_id, room_type_id, property_id } = filter;
  const isNewest = filter.order !== 'check_in';
  const ofStatus = given(status, (value): Indexed => ({ column: 'status', type: 'text', value }));
  const ofCredential = given(credential_id, (value): Indexed => ({ column: 'credential_id', type: 'uuid', value }));
  const others = [
    ...given(source, (name) => OF_SOURCE[name]),
    ...(isNewest ? [] : given(credential_id, (id) => sql`credential_id = ${id}::uuid`)),
  ];
  return {
    ...(isNewest ? { ...NEWEST_FIRST, name: 'reservations:newest' } : BY_CHECK_IN),
    from: sql`reservation`,
    ofTenant: sql`tenant_id = ${tenantId}`,
    indexed: isNewest ? [...ofCredential, ...ofStatus] : ofStatus,
    filters: [
      ...given(room_type_id, (id) => sql`room_type_id = ${id}::uuid`),
      ...given(property_id, (id) => isInProperty(tenantId, id)),
    ],
    searches: [...others.map((isMatch) => ({ isMatch })), ...searchesOf(tenantId, filter)],
    row: sql`
      SELECT reservation.*, ${labelOf(tenantId)} AS credential_label FROM reservation
      WHERE tenant_id = ${tenantId} AND id = page.id`,
  };
}

function isInProperty(tenantId: number, propertyId: string) {
  const ids = sql`SELECT r.id FROM room_type AS r WHERE r.tenant_id = ${tenantId} AND r.property_id = ${propertyId}::uuid`;
  return sql`room_type_id = ANY (ARRAY(${ids}))`;
}

function searchesOf(tenantId: number, filter: ReservationFilter): Search[] {
  const idsOf = (condition: RawBuilder<boolean>) =>
    sql`SELECT id FROM reservation WHERE tenant_id = ${tenantId} AND ${condition}`;
  const ofEither = (conditions: RawBuilder<boolean>[]) => ({
    isMatch: eitherOf(conditions),
    // Each query reads its own index. For one query with OR, PostgreSQL may read all stays before the day.
    ids: sql.join(conditions.map(idsOf), sql` UNION ALL `),
  });
  const conditions = [
    ...given(filter.arriving_on, (day) => sql<boolean>`check_in = ${day}::date`),
    ...given(filter.changed_since, (time) => sql<boolean>`changed_at >= ${time}::timestamptz`),
    ...given(filter.natural_id, (id) => sql<boolean>`natural_id = ${id}`),
    ...given(filter.external_id, (id) => hasExternalId(tenantId, id)),
    ...given(filter.email, (email) => sql<boolean>`guest_search_email = ${searchEmail(email)}`),
    ...given(filter.phone, (phone) => sql<boolean>`guest_digits = ${digitsOf(phone)}`),
    ...given(filter.name, (name) => beginsWith(sql`guest_search_name`, name)),
    ...given(filter.ids, (ids) => sql<boolean>`id = ANY (${ids}::uuid[])`),
  ];
  return [
    ...conditions.map((isMatch) => ({ isMatch })),
    ...given(filter.departing_on, (day) => ofEither(departsOn(day))),
    ...given(filter.staying_on, (night) => ofEither(hasNight(night))),
  ];
}

export async function findForStaff(db: Db, tenantId: number, id: string): Promise<LabelledRow | undefined> {
  return await db
    .selectFrom('reservation')
    .selectAll()
    .select(labelOf(tenantId).as('credential_label'))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

function labelOf(tenantId: number): RawBuilder<string | null> {
  return sql`(SELECT c.label FROM credential AS c WHERE c.tenant_id = ${tenantId} AND c.id = reservation.credential_id)`;
}

export async function readByCheckIn(
  db: Database,
  { tenantId, status, limit }: { tenantId: number; status: ReservationStatus | undefined; limit: number },
): Promise<ReservationRow[]> {
  const all = db.selectFrom('reservation').selectAll().where('tenant_id', '=', tenantId);
  const listed = status === undefined ? all : all.where('status', '=', status);
  return await listed.orderBy('check_in', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** The form of `house` is the same as in the partial index of these stays. */
const OF_SOURCE: Record<ReservationSource, RawBuilder<boolean>> = {
  partner: sql`credential_id IS NOT NULL`,
  ota: sql`external_source IS NOT NULL`,
  house: sql`credential_id IS NULL AND external_source IS NULL`,
};

export function coversNight(night: DateText): RawBuilder<boolean> {
  return eitherOf(hasNight(night));
}

/**
 * A stay of at most 31 nights began at most 30 days before the night, so an index on check_in finds it. Another index has only the few
 * longer stays.
 */
function hasNight(night: DateText): RawBuilder<boolean>[] {
  return [
    sql`check_in BETWEEN ${night}::date - 30 AND ${night}::date AND check_out > ${night}::date`,
    sql`check_out - check_in > 31 AND check_out > ${night}::date AND check_in <= ${night}::date`,
  ];
}

function departsOn(day: DateText): RawBuilder<boolean>[] {
  return [
    sql`check_in BETWEEN ${day}::date - 31 AND ${day}::date AND check_out = ${day}::date`,
    sql`check_out - check_in > 31 AND check_out = ${day}::date`,
  ];
}

function eitherOf(conditions: RawBuilder<boolean>[]): RawBuilder<boolean> {
  return sql`(${sql.join(conditions, sql` OR `)})`;
}

/**
 * PostgreSQL can search the index of the ids of partners for an `external_reservation_id` only together with a `credential_id`. So the
 * condition also compares `credential_id` with the ids of all credentials of the tenant.
 */
function hasExternalId(tenantId: number, externalId: string) {
  return sql<boolean>`(
    credential_id = ANY (ARRAY(SELECT c.id FROM credential AS c WHERE c.tenant_id = ${tenantId}))
      AND external_reservation_id = ${externalId}
    OR external_id = ${externalId}
  )`;
}
