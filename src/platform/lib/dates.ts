import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';
import { matching } from './patterns.ts';

/** Calendar day as a text `YYYY-MM-DD`. The texts sort in the order of the days, and they have no time zone. */
export type DateText = string;

/** Schema keywords of a time of day as a text `HH:MM`. */
export const TIME_OF_DAY = matching(String.raw`^([01]\d|2[0-3]):[0-5]\d$`, 'must be a time of day from 00:00 to 23:59');

/** Largest number of nights in a date range (decision 7). */
export const MAX_NIGHTS = 730;

const DAY_MS = 86_400_000;

/** Returns the nights of a stay in order: every day from check-in to the day before check-out. */
export function nightsOf(checkIn: DateText, checkOut: DateText): DateText[] {
  const nights: DateText[] = [];
  let night = checkIn;
  for (let left = countNights(checkIn, checkOut); left > 0; left -= 1) {
    nights.push(night);
    night = dayAfter(night);
  }
  return nights;
}

/**
 * Returns the day after the given day. If the next day is at most the 28th, it is in the same month, because every month has at least 28
 * days. Then the function only adds 1 to the day of the month. For a later day it uses `Date`, which takes several times as long.
 */
function dayAfter(day: DateText): DateText {
  const next = Number(day.slice(8)) + 1;
  return next <= 28
    ? `${day.slice(0, 8)}${next < 10 ? '0' : ''}${next}`
    : new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

/** Returns the number of nights from check-in to check-out. The number is less than 1 if check-out is not after check-in. */
export function countNights(checkIn: DateText, checkOut: DateText): number {
  return (Date.parse(checkOut) - Date.parse(checkIn)) / DAY_MS;
}

/**
 * Returns true if the text is the name of a time zone, such as `Europe/Lisbon`. An offset such as `+01:00` is not a name. The text must be
 * valid for both Intl and Temporal, because each of them also accepts texts that are not names. Intl accepts abbreviations such as `PST`.
 * Temporal accepts a date and time with a zone.
 */
export function isTimeZone(name: string): boolean {
  try {
    return (
      /^[a-z]/i.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '' && todayIn(name) !== ''
    );
  } catch {
    return false;
  }
}

/** Returns the current calendar day in a time zone. */
export function todayIn(timezone: string): DateText {
  return Temporal.Now.plainDateISO(timezone).toString();
}

/** Returns the calendar day of an instant in a time zone. @param atMs milliseconds of Unix time */
export function dayAt(atMs: number, timezone: string): DateText {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timezone).toPlainDate().toString();
}

/** Returns the day that is a number of days after the given day, or before it if the number is negative. */
export function addDays(day: DateText, days: number): DateText {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the day of the week: 1 for Monday to 7 for Sunday (ISO 8601). */
export function weekdayOf(day: DateText): number {
  return new Date(Date.parse(day)).getUTCDay() || 7;
}

/**
 * Results of `instantOf`, by its arguments, about 2 MB. A list of reservations needs the same few hundred instants again and again.
 */
const instants = new LRUCache<string, string>({ max: 10_000 });

/**
 * Returns the instant of a local date and time in a time zone, as an ISO 8601 text in UTC. If a clock change skips the local time, the
 * function adds the length of the skipped gap to it. For example, if the clock jumps from 02:00 to 03:00, the result for 02:30 is the
 * instant of 03:30. If the local time occurs twice, the result is its first occurrence.
 * @param time `HH:MM`
 */
export function instantOf(date: DateText, time: string, timezone: string): string {
  const key = `${date}T${time} ${timezone}`;
  const cached = instants.get(key);
  if (cached !== undefined) {
    return cached;
  }
  const wall = Temporal.PlainDateTime.from(`${date}T${time}`);
  const instant = wall.toZonedDateTime(timezone).toInstant().toString({ fractionalSecondDigits: 3 });
  instants.set(key, instant);
  return instant;
}

/**
 * Returns the time of a change of an order or a stay whose row the caller has locked. It is later than `previous`, the time of the previous
 * change, even if the clocks of two processes differ. So the times of the changes are in the order of the changes, and never equal.
 */
export function timeAfter(previous: Date): Date {
  return new Date(Math.max(Date.now(), previous.getTime() + 1));
}
