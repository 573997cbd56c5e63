import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { Fields, rowsToInsert } from '#platform/db/inputs.ts';
import { type KeysetList, keysetList } from '#platform/db/keyset-list.ts';
import type { Reservation } from '#platform/db/types.ts';
import type { ReservationStatus } from './reservation-status.ts';

export type ReservationRow = Selectable<Reservation>;
/** New reservation. Its status has not changed yet, so it has no `status_request_id`. */
export type NewReservation = Omit<Insertable<Reservation>, 'status_request_id'>;
type ChannelColumn = 'external_source' | 'external_id' | 'channel_timestamp' | 'channel_signatures';
/**
 * Row of a reservation without the columns that only OTA reservations have, and without the id of a change by staff. Responses to partners
 * are made from it.
 */
export type PartnerRow = Omit<ReservationRow, ChannelColumn | 'status_request_id'>;
/** Reservation that a partner booked. */
export type PartnerReservation = PartnerRow & { credential_id: string; external_reservation_id: string };
const NEW_RESERVATION = new Fields<NewReservation>({
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
  total_amount: 'numeric',
  currency: 'text',
  created_at: 'timestamptz',
  channel_timestamp: 'bigint',
  channel_signatures: 'text[]',
});

/**
 * Inserts one reservation, or several reservations of partners. Skips a reservation if another reservation already has its external id or,
 * by rare chance, its natural id. Several reservations may belong to different tenants only if the database is one node.
 * @returns the ids of the inserted reservations
 */
export async function insertReservations(tx: Tx, reservations: NewReservation[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO reservation
    ${rowsToInsert(tx, NEW_RESERVATION, reservations, ['tenant_id', 'credential_id', 'external_reservation_id'])}
    ON CONFLICT DO NOTHING
    RETURNING id
  `.execute(tx);
  return new Set(rows.map(({ id }) => id));
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

export async function updateReservation(
  tx: Tx,
  tenantId: number,
  id: string,
  changes: Partial<Omit<ReservationRow, 'tenant_id' | 'id'>>,
): Promise<ReservationRow> {
  return await tx
    .updateTable('reservation')
    .set(changes)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Filter of a list of reservations. A missing credential or status means all credentials or all statuses of the tenant. */
export interface ReservationFilter {
  tenantId: number;
  credentialId?: string;
  status?: ReservationStatus | undefined;
}

function filtered(db: Database, { tenantId, credentialId, status }: ReservationFilter) {
  let list = db.selectFrom('reservation').where('tenant_id', '=', tenantId);
  if (credentialId !== undefined) {
    list = list.where('credential_id', '=', credentialId);
  }
  return status === undefined ? list : list.where('status', '=', status);
}

/** Returns the list of reservations that pass the filter, newest first. */
export function listReservations(db: Database, filter: ReservationFilter): KeysetList<ReservationRow> {
  return keysetList(db, filtered(db, filter), (reservations) => reservations.selectAll());
}

/** Reads reservations with the latest check-in first. If two have the same check-in, the newest reservation comes first. */
export async function readByCheckIn(db: Database, filter: ReservationFilter, limit: number): Promise<ReservationRow[]> {
  return await filtered(db, filter)
    .selectAll()
    .orderBy('check_in', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
