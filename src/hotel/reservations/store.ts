import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, DB, Tx } from '#platform/db/database.ts';
import { fieldsOfTable, type Owner, rowsToInsert } from '#platform/db/inputs.ts';
import { searchEmail, searchName, searchPhone } from '#platform/lib/unicode.ts';

export type ReservationRow = Selectable<DB['reservation']>;
type SearchColumn = 'guest_search_name' | 'guest_digits' | 'guest_search_email';
/** Columns that a new reservation does not have. */
const CHANGE_COLUMNS = ['status_request_id', 'arrived_at'] as const;
type ChangeColumn = (typeof CHANGE_COLUMNS)[number];
type InsertedReservation = Omit<Insertable<DB['reservation']>, ChangeColumn>;
export type NewReservation = Omit<InsertedReservation, SearchColumn | 'changed_at'>;
/** Row of a stay without the columns that only staff see or search. */
export type StayRow = Omit<ReservationRow, ChangeColumn | SearchColumn | 'changed_at'>;

const NEW_RESERVATION = fieldsOfTable('reservation', CHANGE_COLUMNS);
const OWNER: Owner<InsertedReservation> = {
  table: 'room_type',
  idColumn: 'room_type_id',
  key: ['tenant_id', 'credential_id', 'external_reservation_id'],
};

/**
 * Skips a reservation if another one has its external id or, in rare cases, its natural id. Several reservations may belong to different
 * tenants only if the database is one node.
 * @returns the ids of the inserted reservations
 */
export async function insertReservations(tx: Tx, reservations: NewReservation[]): Promise<Set<string>> {
  const inserted = reservations.map((row) => ({ ...row, ...searchColumnsOf(row), changed_at: row.created_at }));
  const { rows } = await sql<{ id: string }>`
    INSERT INTO reservation
    ${rowsToInsert(tx, NEW_RESERVATION, inserted, OWNER)}
    ON CONFLICT DO NOTHING
    RETURNING id
  `.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

type Guest = Pick<Insertable<DB['reservation']>, 'guest_name' | 'guest_phone' | 'guest_email'>;

function searchColumnsOf({ guest_name: name, guest_phone: phone = null, guest_email: email = null }: Guest) {
  return {
    guest_search_name: searchName(name),
    guest_digits: searchPhone(phone),
    guest_search_email: email === null ? null : searchEmail(email),
  };
}

/** On a database cluster, all reservations must belong to one tenant. */
export async function removeReservations(
  tx: Tx,
  reservations: Pick<ReservationRow, 'tenant_id' | 'id'>[],
): Promise<void> {
  if (reservations.length === 0) {
    return;
  }
  await tx
    .deleteFrom('reservation')
    .where((eb) => eb('tenant_id', '=', eb.fn.any(eb.val(reservations.map(({ tenant_id }) => tenant_id)))))
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(reservations.map(({ id }) => id)))))
    .execute();
}

export type PartnerKey = { credential_id: string; external_reservation_id: string };
export type OtaKey = { external_source: string; external_id: string };
export type HouseKey = { booking_request_id: string };

/** Key under which a stay is booked once. */
export type BookingKey = PartnerKey | OtaKey | HouseKey;

export async function findBooked(db: Db, tenantId: number, key: BookingKey): Promise<ReservationRow | undefined> {
  const stays = db.selectFrom('reservation').selectAll().where('tenant_id', '=', tenantId);
  if (!('booking_request_id' in key)) {
    return await stays.where((eb) => eb.and(key)).executeTakeFirst();
  }
  const booking = db
    .selectFrom('reservation_change')
    .select('reservation_id')
    .where('tenant_id', '=', tenantId)
    .where('booking_request_id', '=', key.booking_request_id);
  return await stays.where('id', '=', booking).executeTakeFirst();
}

export async function lockReservation(tx: Tx, tenantId: number, id: string): Promise<ReservationRow | undefined> {
  return await tx
    .selectFrom('reservation')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** The columns of the guest are given together or not at all. */
export type ReservationUpdate = Partial<Omit<ReservationRow, 'tenant_id' | 'id' | SearchColumn | keyof Guest>> &
  (Guest | { guest_name?: never });

export async function updateReservation(
  tx: Tx,
  tenantId: number,
  id: string,
  changes: ReservationUpdate,
): Promise<ReservationRow> {
  return await tx
    .updateTable('reservation')
    .set(changes.guest_name === undefined ? changes : { ...changes, ...searchColumnsOf(changes) })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export type NewReservationChange = Insertable<DB['reservation_change']>;
export type ReservationChangeRow = Selectable<DB['reservation_change']>;

/** Older changes are left out, because an OTA may change a stay any number of times. */
export const MAX_CHANGES = 200;

/**
 * @returns false if an earlier try of the same transaction has stored the row, or if the tenant has already stored a booking with the same
 * `booking_request_id`
 */
export async function insertChange(tx: Tx, change: NewReservationChange): Promise<boolean> {
  const inserted = await tx
    .insertInto('reservation_change')
    .values(change)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

export async function hasChange(tx: Tx, tenantId: number, id: string): Promise<boolean> {
  const found = await tx
    .selectFrom('reservation_change')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return found !== undefined;
}

/** Reads the newest changes of the status, and returns them oldest first. */
export async function readStatusChanges(
  db: Db,
  tenantId: number,
  reservationId: string,
): Promise<ReservationChangeRow[]> {
  const newest = await db
    .selectFrom('reservation_change')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('reservation_id', '=', reservationId)
    .where(sql<boolean>`previous_status IS DISTINCT FROM status`)
    .orderBy('at', 'desc')
    .limit(MAX_CHANGES)
    .execute();
  return newest.reverse();
}
