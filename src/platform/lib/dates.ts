import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';
import { matching } from './patterns.ts';

/** Calendar day as a text `YYYY-MM-DD`. The texts sort in the order of the days, and they have no time zone. */
export type DateText = string;

export const TIME_OF_DAY = matching(String.raw`^([01]\d|2[0-3]):[0-5]\d$`, 'must be a time of day from 00:00 to 23:59');

/** Largest number of nights in a date range (rule 7). */
export const MAX_NIGHTS = 730;

const DAY_MS = 86_400_000;

export function nightsOf(checkIn: DateText, checkOut: DateText): DateText[] {
  const nights: DateText[] = [];
  let night = checkIn;
  for (let left = countNights(checkIn, checkOut); left > 0; left -= 1) {
    nights.push(night);
    night = dayAfter(night);
  }
  return nights;
}

/** Up to the 28th, the next day is in the same month. `Date` takes several times as long. */
function dayAfter(day: DateText): DateText {
  const next = Number(day.slice(8)) + 1;
  return next <= 28
    ? `${day.slice(0, 8)}${next < 10 ? '0' : ''}${next}`
    : new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

/** Less than 1 if check-out is not after check-in. */
export function countNights(checkIn: DateText, checkOut: DateText): number {
  return (Date.parse(checkOut) - Date.parse(checkIn)) / DAY_MS;
}

/** Returns true if the text names a time zone. Intl also accepts `PST`, and Temporal a time with a zone, so both must accept it. */
export function isTimeZone(name: string): boolean {
  try {
    return (
      /^[a-z]/i.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '' && todayIn(name) !== ''
    );
  } catch {
    return false;
  }
}

export function todayIn(timezone: string): DateText {
  return Temporal.Now.plainDateISO(timezone).toString();
}

/** Returns the calendar day of an instant in a time zone. @param atMs milliseconds of Unix time */
export function dayAt(atMs: number, timezone: string): DateText {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timezone).toPlainDate().toString();
}

export function addDays(day: DateText, days: number): DateText {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the day of the week: 1 for Monday to 7 for Sunday (ISO 8601). */
export function weekdayOf(day: DateText): number {
  return new Date(Date.parse(day)).getUTCDay() || 7;
}

/** About 2 MB. A list of reservations needs the same few hundred instants again and again. */
const instants = new LRUCache<string, string>({ max: 10_000 });

/** Returns the instant of a local time (`HH:MM`) in UTC. A skipped time moves by the gap, and of two equal times the first counts. */
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

/** Returns a time after `previous`, the last change of a row that the caller has locked, even if the clocks of processes differ. */
export function timeAfter(previous: Date): Date {
  return new Date(Math.max(Date.now(), previous.getTime() + 1));
}
