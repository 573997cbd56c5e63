import { invalidField } from '#platform/errors.ts';
import type { DateText } from '#platform/lib/dates.ts';
import { checkRange } from './checks.ts';
import { sourceOf } from './source.ts';
import { HouseChange } from './staff-schema.ts';
import type { ReservationRow, ReservationUpdate } from './store.ts';

/** Fields that a change may name if it ends a stay early. */
const NAMED = ['check_out', 'expected_changed_at'];
const OTHERS = Object.keys(HouseChange.properties).filter((field) => !NAMED.includes(field)) as (keyof HouseChange)[];

/** Change that ends a stay early: the guests leave before the check-out. */
type EarlyEnd = HouseChange & { check_out: DateText };

/**
 * Returns true if the change ends a confirmed or completed stay early, and names nothing but the new check-out. The stay may have any
 * source. The present check-out counts as well, so that a repeated call is accepted. A confirmed stay of the hotel itself is ended early
 * only if it has begun and does not end in the past. Any other change of its dates is priced again.
 * @param today current day at the property
 */
export function isEarlyEnd(row: ReservationRow, input: HouseChange, today: DateText): input is EarlyEnd {
  const { check_out } = input;
  if (check_out === undefined || check_out > row.check_out || OTHERS.some((field) => input[field] !== undefined)) {
    return false;
  }
  const hasBegun = row.check_in <= today && check_out >= today;
  return row.status === 'completed' || (row.status === 'confirmed' && (sourceOf(row) !== 'house' || hasBegun));
}

/**
 * Returns the new values of a stay that ends early. The amount stays. The prices of the nights are unknown from now on, because their sum
 * would not be the amount.
 * @throws ApiError 400 `invalid_request` if the stay would have no night, or would end before today
 */
export function earlyEnd(row: ReservationRow, { check_out }: EarlyEnd, today: DateText): ReservationUpdate {
  if (check_out === row.check_out) {
    return {};
  }
  checkRange({ check_in: row.check_in, check_out });
  if (check_out < today) {
    throw invalidField('check_out', `must not be before today at the property, which is ${today}`);
  }
  return { check_out, nightly_prices: null };
}
