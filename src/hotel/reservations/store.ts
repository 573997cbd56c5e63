import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/database.ts';
import { Fields, type Owner, rowsToInsert } from '#platform/db/inputs.ts';
import { searchEmail, searchName, searchPhone } from '#platform/db/search-text.ts';
import type { Reservation } from '#platform/db/types.ts';

export type ReservationRow = Selectable<Reservation>;
type SearchColumn = 'guest_search_name' | 'guest_digits' | 'guest_search_email';
/** Columns that only a later change sets. */
type ChangeColumn = 'status_request_id' | 'arrived_at';
type InsertedReservation = Omit<Insertable<Reservation>, ChangeColumn>;
/** New reservation. `insertReservations` sets the columns that follow from the others. */
export type NewReservation = Omit<InsertedReservation, SearchColumn | 'changed_at'>;
type ChannelColumn = 'external_source' | 'external_id' | 'channel_timestamp' | 'channel_signatures';
/**
 * Row of a reservation from which responses to partners are made. It has neither the columns of OTA reservations nor those that only
 * staff see or search.
 */
export type PartnerRow = Omit<ReservationRow, ChannelColumn | ChangeColumn | SearchColumn | 'changed_at'>;
/** Reservation that a partner booked. */
export type PartnerReservation = PartnerRow & { credential_id: string; external_reservation_id: string };

const NEW_RESERVATION = new Fields<InsertedReservation>({
  tenant_id: 'bigint',
  id: 'uuid',
  natural_id: 'text',
  credential_id: 'uuid',
  external_reservation_id: 'text',
  external_source: 'text',
  external_id: 'text',
  status: 'text',
  room_type_id: 'uuid',
  rate_plan_id: 'uuid',
  check_in: 'date',
  check_out: 'date',
  guests: 'int',
  guest_name: 'text',
  guest_phone: 'text',
  guest_email: 'text',
  guest_search_name: 'text',
  guest_digits: 'text',
  guest_search_email: 'text',
  total_amount: 'numeric',
  currency: 'text',
  created_at: 'timestamptz',
  channel_timestamp: 'bigint',
  channel_signatures: 'text[]',
  nightly_prices: 'text[]',
  changed_at: 'timestamptz',
});
const OWNER: Owner<InsertedReservation> = {
  table: 'room_type',
  idColumn: 'room_type_id',
  key: ['tenant_id', 'credential_id', 'external_reservation_id'],
};

/**
 * Inserts one reservation, or several reservations of partners. Skips a reservation if another reservation already has its external id. In
 * rare cases, another reservation has the same natural id (short random code), and the function skips the new reservation too. Several
 * reservations may belong to different tenants only if the database is one node.
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

type Guest = Pick<Insertable<Reservation>, 'guest_name' | 'guest_phone' | 'guest_email'>;

function searchColumnsOf({ guest_name: name, guest_phone: phone = null, guest_email: email = null }: Guest) {
  return {
    guest_search_name: searchName(name),
    guest_digits: searchPhone(phone),
    guest_search_email: email === null ? null : searchEmail(email),
  };
}

/** Deletes reservations that the same transaction has inserted. On a database cluster, all of them must belong to one tenant. */
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

export async function findByExternalReservationId(
  db: Db,
  tenantId: number,
  credentialId: string,
  externalReservationId: string,
): Promise<ReservationRow | undefined> {
  return await db
    .selectFrom('reservation')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('credential_id', '=', credentialId)
    .where('external_reservation_id', '=', externalReservationId)
    .executeTakeFirst();
}

/** Returns an OTA's reservation and locks its row until the transaction ends. Returns undefined if it does not exist. */
export async function lockBySource(
  tx: Tx,
  tenantId: number,
  source: string,
  externalId: string,
): Promise<ReservationRow | undefined> {
  return await tx
    .selectFrom('reservation')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('external_source', '=', source)
    .where('external_id', '=', externalId)
    .forUpdate()
    .executeTakeFirst();
}

export async function findReservation(db: Db, tenantId: number, id: string): Promise<ReservationRow | undefined> {
  return await db
    .selectFrom('reservation')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Returns a reservation and locks its row until the transaction ends, so that concurrent changes of the reservation happen one after
 * another. Returns undefined if it does not exist.
 */
export async function lockReservation(tx: Tx, tenantId: number, id: string): Promise<ReservationRow | undefined> {
  return await tx
    .selectFrom('reservation')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** New values of some columns of a reservation. The columns of the guest are given together or not at all. */
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
