import { isDeepStrictEqual } from 'node:util';
import type { ChangeActor, NamedActor } from '#access/actors/actors.ts';
import type { Tx } from '#platform/db/database.ts';
import { timeAfter } from '#platform/lib/dates.ts';
import { newId } from '#platform/lib/ids.ts';
import { type Hold, moveHold } from '../nights/nights.ts';
import type { EventInput } from '#webhooks/events/events.ts';
import { notAvailable } from './checks.ts';
import { HOLDING_STATUSES, type ReservationStatus, sourceOf } from './reservation-status.ts';
import {
  insertChange,
  type NewReservationChange,
  type ReservationChangeRow,
  type ReservationRow,
  type ReservationUpdate,
  type StayRow,
  updateReservation,
} from './store.ts';

/**
 * Create this object before the transaction begins, so that all tries of the transaction use the same id. If an earlier try was committed,
 * a retry finds the row of `reservation_change` by this id.
 */
export interface WantedChange {
  id: string;
  actor: ChangeActor;
  /** Webhook events never contain the reason. */
  reason: string | null;
}

export function wantedChange(actor: ChangeActor, reason: string | null = null): WantedChange {
  return { id: newId(), actor, reason };
}

/**
 * Updates a reservation whose row the caller has locked, records the change, and moves the night counters.
 * @param capacity by default, the number of held rooms is not checked
 * @throws ApiError 409 `room_not_available` if an added night has no room left
 */
export async function writeChange(
  tx: Tx,
  row: ReservationRow,
  update: ReservationUpdate,
  wanted: WantedChange,
  capacity?: number,
): Promise<ReservationRow> {
  const stamped = isVisible(row, update) ? { ...update, changed_at: nextChangeTime(row) } : update;
  const changed = await updateReservation(tx, row.tenant_id, row.id, stamped);
  const record = recordOf(row, changed, wanted);
  if (record !== null) {
    await insertChange(tx, record);
  }
  if (!(await moveHold(tx, row.tenant_id, holdOf(row), holdOf(changed), capacity))) {
    throw notAvailable();
  }
  return changed;
}

/** Columns that no response shows. An update of only these columns leaves `changed_at` as it is. */
const HIDDEN = new Set(['channel_timestamp', 'channel_signatures', 'status_request_id']);

function isVisible(row: ReservationRow, update: ReservationUpdate): boolean {
  const stored = new Map<string, unknown>(Object.entries(row));
  return Object.entries(update).some(
    ([column, value]) => !HIDDEN.has(column) && !isDeepStrictEqual(stored.get(column), value),
  );
}

/** The time is later than the time of the previous change of the stay. */
export function nextChangeTime(row: ReservationRow): Date {
  return timeAfter(row.changed_at);
}

function recordOf(
  before: ReservationRow,
  after: ReservationRow,
  { id, actor, reason }: WantedChange,
): NewReservationChange | null {
  const isMoved = hasMoved(before, after);
  if (!isMoved && before.status === after.status) {
    return null;
  }
  return {
    ...stateOf(after),
    id,
    at: after.changed_at,
    actor_type: actor.type,
    actor_id: actor.id,
    previous_status: before.status,
    previous_room_type_id: isMoved ? before.room_type_id : null,
    previous_check_in: isMoved ? before.check_in : null,
    previous_check_out: isMoved ? before.check_out : null,
    reason,
  };
}

export function hasMoved(before: Nights, after: Nights): boolean {
  return (
    before.room_type_id !== after.room_type_id ||
    before.check_in !== after.check_in ||
    before.check_out !== after.check_out
  );
}

export type Nights = Pick<ReservationRow, 'room_type_id' | 'check_in' | 'check_out'>;

type State = Nights & Pick<ReservationRow, 'tenant_id' | 'id' | 'status'>;

export function stateOf({ tenant_id, id, status, room_type_id, check_in, check_out }: State) {
  return { tenant_id, reservation_id: id, status, room_type_id, check_in, check_out };
}

/** The id of a channel is null, because the row of a stay has only the name of the OTA. */
export function bookerOf(row: Pick<ReservationRow, 'credential_id' | 'external_source'>): ChangeActor {
  return sourceOf(row) === 'partner' ? { type: 'partner', id: row.credential_id } : { type: 'channel', id: null };
}

export function actorOfChange({ actor_type, actor_id }: Pick<ReservationChangeRow, 'actor_type' | 'actor_id'>) {
  return { type: actor_type as ChangeActor['type'], id: actor_id };
}

/** A channel has the name of the OTA that sold the stay. */
export function withName(
  nameOf: (actor: ChangeActor) => NamedActor,
  actor: ChangeActor,
  externalSource: string | null,
): NamedActor {
  return actor.type === 'channel' ? { ...actor, name: externalSource } : nameOf(actor);
}

export function holdOf(row: Nights & Pick<ReservationRow, 'status'>): Hold | null {
  return HOLDING_STATUSES.includes(row.status as ReservationStatus)
    ? { roomTypeId: row.room_type_id, checkIn: row.check_in, checkOut: row.check_out }
    : null;
}

/** Returns the event for the partner that booked the stay. A stay of another source causes no event. */
export function reservationEvent(
  type: 'reservation.created' | 'reservation.modified' | 'reservation.cancelled',
  { tenant_id: tenantId, id, credential_id: credentialId, external_reservation_id: external_id, status }: StayRow,
  occurredAt: Date,
): EventInput[] {
  if (credentialId === null || external_id === null) {
    return [];
  }
  const data = { reservation_id: id, external_reservation_id: external_id, status };
  return [{ tenantId, credentialId, type, occurredAt, data, subject: { type: 'reservation', id, external_id } }];
}
