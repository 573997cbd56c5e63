import type { Tx } from '#platform/db/database.ts';
import { type ApiError, apiError, invalidField, notFound } from '#platform/errors.ts';
import { countNights, type DateText, MAX_NIGHTS } from '#platform/lib/dates.ts';
import { isUuid } from '#platform/lib/ids.ts';
import type { FindRoomType, RoomTypeWithClock } from '../rooms/rooms.ts';
import type { ReservationStatus } from './reservation-status.ts';
import type { ReservationStatusChange } from './staff-schema.ts';
import { lockReservation, type ReservationRow } from './store.ts';

export interface Range {
  check_in: DateText;
  check_out: DateText;
}

/**
 * Refuses a range that is empty, reversed or longer than 730 nights (decision 7).
 * @throws ApiError 400 `invalid_request`
 */
export function checkRange({ check_in, check_out }: Range): void {
  const nights = countNights(check_in, check_out);
  if (nights < 1) {
    throw invalidField('check_out', 'must be after check_in');
  }
  if (nights > MAX_NIGHTS) {
    throw invalidField('check_out', `must be at most ${MAX_NIGHTS} nights after check_in`);
  }
}

/**
 * Returns the room type.
 * @throws ApiError 404 `room_type_not_found` if the room type is unknown or inactive
 */
export async function requireActive(find: FindRoomType, tenantId: number, id: string): Promise<RoomTypeWithClock> {
  const roomType = await find(tenantId, id);
  if (roomType === null || !roomType.is_active) {
    throw apiError(
      'room_type_not_found',
      'The hotel has no active room type with this room_type_id. Read the list of room types, and use an id from it.',
    );
  }
  return roomType;
}

/**
 * Returns a reservation, and locks its row until the transaction ends.
 * @throws ApiError 404 (code `error`) if the id is unknown
 */
export async function lockStay(tx: Tx, tenantId: number, id: string): Promise<ReservationRow> {
  const row = isUuid(id) ? await lockReservation(tx, tenantId, id) : undefined;
  if (row === undefined) {
    throw notFound('reservation');
  }
  return row;
}

/** Returns the error for a change of status that is refused, or null if the change is allowed. */
export function statusRefusal(
  present: ReservationStatus,
  { status, expected_status: expected }: ReservationStatusChange,
  isAllowed: (from: ReservationStatus, to: ReservationStatus) => boolean,
): ApiError | null {
  if (expected !== undefined && expected !== present) {
    return apiError(
      'invalid_status_transition',
      `The reservation is ${present}, not ${expected}. Read the reservation again.`,
    );
  }
  return isAllowed(present, status)
    ? null
    : apiError('invalid_status_transition', `The reservation is ${present}, so it cannot become ${status}.`);
}
