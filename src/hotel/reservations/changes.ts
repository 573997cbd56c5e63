import { isDeepStrictEqual } from 'node:util';
import { type ChangeActor, type NamedActor, readActorNames } from '#access/actors/actors.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { timeAfter } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { moveHold } from '../nights/nights.ts';
import type { StayRange } from '../rates/rates.ts';
import type { EventInput } from '#webhooks/events/events.ts';
import { nightFull } from './checks.ts';
import { HOLDING_STATUSES, type ReservationStatus } from './reservation-status.ts';
import * as store from './store.ts';

/**
 * Call this before the transaction begins, so that all tries of the transaction use the same id. If an earlier try was committed, a retry
 * finds the row of `reservation_change` by this id. Webhook events never contain the reason.
 */
export function wantedChange({ type, id }: ChangeActor, reason: string | null = null) {
  return { id: newId(), actor_type: type, actor_id: id, reason };
}
export type WantedChange = ReturnType<typeof wantedChange>;

/**
 * Updates a reservation whose row the caller has locked, records the change, and moves the night counters.
 * @param capacity by default, the number of held rooms is not checked
 * @throws ApiError 409 `room_not_available` if an added night has no room left
 */
export async function writeChange(
  tx: Tx,
  row: store.ReservationRow,
  update: store.ReservationUpdate,
  wanted: WantedChange,
  capacity?: number,
): Promise<store.ReservationRow> {
  const stamped = isVisible(row, update) ? { ...update, changed_at: timeAfter(row.changed_at) } : update;
  const changed = await store.updateReservation(tx, row.tenant_id, row.id, stamped);
  const record = recordOf(row, changed, wanted);
  if (record !== null) {
    await store.insertChange(tx, record);
  }
  if (!(await moveHold(tx, holdOf(row), holdOf(changed), capacity))) {
    throw nightFull();
  }
  return changed;
}

/** Columns that no response shows. An update of only these columns leaves `changed_at` as it is. */
const HIDDEN = new Set(['channel_timestamp', 'channel_signatures', 'status_request_id']);

function isVisible(row: store.ReservationRow, update: store.ReservationUpdate): boolean {
  return Object.entries(update).some(
    ([column, value]) => !HIDDEN.has(column) && !isDeepStrictEqual(row[column as keyof typeof row], value),
  );
}

function recordOf(
  before: store.ReservationRow,
  after: store.ReservationRow,
  wanted: WantedChange,
): store.NewReservationChange | null {
  const isMoved = hasMoved(before, after);
  if (!isMoved && before.status === after.status) {
    return null;
  }
  return {
    ...stateOf(after),
    ...wanted,
    at: after.changed_at,
    previous_status: before.status,
    previous_room_type_id: isMoved ? before.room_type_id : null,
    previous_check_in: isMoved ? before.check_in : null,
    previous_check_out: isMoved ? before.check_out : null,
  };
}

export function hasMoved(before: Nights, after: Nights): boolean {
  return (
    before.room_type_id !== after.room_type_id ||
    before.check_in !== after.check_in ||
    before.check_out !== after.check_out
  );
}

export type Nights = Omit<StayRange, 'tenant_id'>;

type State = Nights & Pick<store.ReservationRow, 'tenant_id' | 'id' | 'status'>;

export function stateOf({ tenant_id, id, status, room_type_id, check_in, check_out }: State) {
  return { tenant_id, reservation_id: id, status, room_type_id, check_in, check_out };
}

type ActorColumns = Pick<store.ReservationChangeRow, 'actor_type' | 'actor_id'>;

/** The id of a channel is null, because the row of a stay has only the name of the OTA. */
export function bookerOf({ credential_id }: Pick<store.ReservationRow, 'credential_id'>): ActorColumns {
  return { actor_type: credential_id === null ? 'channel' : 'partner', actor_id: credential_id };
}

/** Returns a function that names the actor of a change. A channel has the name of the OTA that sold the stay. */
export async function readNamesOf(db: Database, tenantId: number, changes: ActorColumns[]) {
  const actorOf = ({ actor_type: type, actor_id: id }: ActorColumns) => ({ type: type as ChangeActor['type'], id });
  const nameOf = await readActorNames(db, tenantId, changes.map(actorOf));
  return (change: ActorColumns, externalSource: string | null): NamedActor => {
    const actor = actorOf(change);
    return actor.type === 'channel' ? { ...actor, name: externalSource } : nameOf(actor);
  };
}

/** Returns the nights that the stay holds, or null if its status holds none. */
export function holdOf(row: StayRange & { status: string }): StayRange | null {
  return HOLDING_STATUSES.includes(row.status as ReservationStatus) ? row : null;
}

/** Returns the event for the partner that booked the stay. A stay of another source causes no event. */
export function reservationEvent(
  type: 'reservation.created' | 'reservation.modified' | 'reservation.cancelled',
  { tenant_id: tenantId, id, credential_id: credentialId, external_reservation_id: external_id, status }: store.StayRow,
  occurredAt: Date,
): EventInput[] {
  if (credentialId === null || external_id === null) {
    return [];
  }
  return [{ tenantId, credentialId, type, occurredAt, subject: { type: 'reservation', id, external_id }, status }];
}
