import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { MAX_IDS, readIds, readPhone } from '#platform/http/search-query.ts';
import { invalidField } from '#platform/errors.ts';
import { TRIMMED } from '#platform/lib/unicode.ts';
import { date, oneOf, textUpTo, time, uuid } from '#platform/lib/fields.ts';
import { RESERVATION_SOURCES, RESERVATION_STATUSES } from './reservation-status.ts';

const ID = '01a19b53-7418-72ce-86a9-e7f8c3e6bf85';
const ofId = (description: string) => Type.Optional(uuid(description, ID));
const day = (description: string) => Type.Optional(date(description, '2030-05-01'));
const textOf = (maxLength: number, example: string, description: string, options: Type.TStringOptions = {}) =>
  Type.Optional(textUpTo(maxLength, description, { ...options, minLength: 1, example }));

export const StaffReservationQuery = Type.Object({
  ...KeysetQuery.properties,
  status: Type.Optional(oneOf(RESERVATION_STATUSES, 'Lists only reservations with this status.', 'confirmed')),
  property_id: ofId('Lists only reservations of room types of this property.'),
  room_type_id: ofId('Lists only reservations of this room type.'),
  credential_id: ofId('Lists only reservations that a partner booked with this credential.'),
  source: Type.Optional(
    oneOf(
      RESERVATION_SOURCES,
      'Lists only reservations from this source: a partner, an OTA or the hotel itself.',
      'house',
    ),
  ),
  arriving_on: day('Lists only reservations whose `check_in` is this day.'),
  departing_on: day('Lists only reservations whose `check_out` is this day.'),
  staying_on: day('Lists only reservations whose guests stay in the night that begins on this day.'),
  changed_since: Type.Optional(
    time('Lists only reservations that were booked or have changed at this time or later.', '2026-11-20T19:00:00Z'),
  ),
  natural_id: textOf(
    20,
    'B3TN-90HW',
    'Lists only the reservation with this short reference. Upper and lower case are equal.',
  ),
  external_id: textOf(150, 'CD-STAY-5521', 'Lists only reservations that have this id at their partner or OTA.'),
  email: textOf(
    254,
    'ana.silva@example.com',
    'Lists only reservations whose guest has this e-mail address. Upper and lower case are equal.',
    TRIMMED,
  ),
  phone: textOf(
    30,
    '351900000000',
    'Lists only reservations whose guest has this telephone number. Two numbers are equal if they have the same digits, in ' +
      'any script. All other characters are ignored.',
    TRIMMED,
  ),
  name: textOf(
    100,
    'ana s',
    'Lists only reservations whose guest has a name that begins with this text. Case and accents are ignored.',
    TRIMMED,
  ),
  ids: textOf(
    2_000,
    '01a1fa59-7d47-72d5-b816-c40f93e7a52d',
    `Lists only reservations with these Roomservice ids, separated by commas, at most ${MAX_IDS}.`,
  ),
  order: Type.Optional(
    oneOf(
      ['check_in'],
      '`check_in` lists the earliest arrival first. By default, the newest reservation is first.',
      'check_in',
    ),
  ),
});
export type StaffReservationQuery = Type.Static<typeof StaffReservationQuery>;

export type ReservationFilter = Partial<ReturnType<typeof filterOf>>;

export function filterOf({ ids, changed_since, phone, name, natural_id, ...query }: StaffReservationQuery) {
  return {
    ...query,
    natural_id: natural_id?.toUpperCase(),
    phone: phone === undefined ? undefined : readPhone(phone),
    name: name === undefined ? undefined : withLetter(name),
    ids: ids === undefined ? undefined : readIds(ids),
    changed_since: changed_since === undefined ? undefined : new Date(changed_since),
  };
}

/** A text that consists only of accents would be empty without them, so every name would begin with it. */
function withLetter(name: string): string {
  if (name.normalize('NFKD').replace(/[\u0300-\u036f]/g, '') === '') {
    throw invalidField('name', 'must have a character that is not an accent');
  }
  return name;
}
