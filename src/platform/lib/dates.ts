import { Temporal } from 'temporal-polyfill';

/** A calendar day as `YYYY-MM-DD` text: it sorts as it stands and belongs to no time zone. */
export type DateText = string;

/** Decision 7. */
export const MAX_NIGHTS = 730;

const DAY_MS = 86_400_000;

/** The nights of a stay, in order: every day from check-in to the one before check-out. */
export function nightsOf(checkIn: DateText, checkOut: DateText): DateText[] {
  const nights: DateText[] = [];
  let night = checkIn;
  for (let left = countNights(checkIn, checkOut); left > 0; left -= 1) {
    nights.push(night);
    night = dayAfter(night);
  }
  return nights;
}

/** Every month has its days up to the 28th; only what comes after one needs the calendar, which takes several times as long. */
function dayAfter(day: DateText): DateText {
  const next = Number(day.slice(8)) + 1;
  return next <= 28
    ? `${day.slice(0, 8)}${next < 10 ? '0' : ''}${next}`
    : new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

/** Nights between two days; below 1 where check-out does not come after check-in. */
export function countNights(checkIn: DateText, checkOut: DateText): number {
  return (Date.parse(checkOut) - Date.parse(checkIn)) / DAY_MS;
}

/**
 * Whether the text is the name of a time zone, such as `Europe/Lisbon`; an offset such as `+01:00` is none. Intl alone knows names
 * that are no zones (`PST`, `IST`), Temporal alone takes a whole date for the zone it is in.
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

/** The day it is now in a time zone. */
export function todayIn(timezone: string): DateText {
  return Temporal.Now.plainDateISO(timezone).toString();
}

/**
 * The moment of a day's wall-clock time in a zone, ISO 8601 in UTC. A time that a change of the clocks leaves out is moved
 * forward by what is left out; of a time that comes twice it is the first.
 * @param time `HH:MM`
 */
export function momentOf(date: DateText, time: string, timezone: string): string {
  const wall = Temporal.PlainDateTime.from(`${date}T${time}`);
  return wall.toZonedDateTime(timezone).toInstant().toString({ fractionalSecondDigits: 3 });
}
