import { addDays } from '../../ui/format.ts';

/** Returns the time at which a date begins in a time zone, as text like the times of the API. */
export function startOfDay(date: string, timeZone: string): string {
  const utc = Date.parse(`${date}T00:00:00Z`);
  // The clock may be changed on this very night, so the offset is looked up once more at the time that it gave.
  const guess = utc - offsetAt(utc, timeZone);
  return new Date(utc - offsetAt(guess, timeZone)).toISOString();
}

/** Times between which the dates from `from` to `to` lie, for filters of the API. */
export function timesOf(from: string | undefined, to: string | undefined, timeZone: string) {
  return {
    created_from: from === undefined ? undefined : startOfDay(from, timeZone),
    created_to: to === undefined ? undefined : startOfDay(addDays(to, 1), timeZone),
  };
}

/** Local time minus UTC at a time, in milliseconds. */
function offsetAt(time: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const local = `${part['year']}-${part['month']}-${part['day']}T${part['hour']}:${part['minute']}:${part['second']}Z`;
  return Date.parse(local) - Math.floor(time / 1_000) * 1_000;
}
