import { addDays } from './format.ts';

/** Times between which the dates from `from` to `to` lie in a time zone, both included, for filters of the API. */
export function timesOf(from: string | undefined, to: string | undefined, timeZone: string) {
  return {
    created_from: from && startOfDay(from, timeZone),
    created_to: to && startOfDay(addDays(to, 1), timeZone),
  };
}

function startOfDay(date: string, timeZone: string): string {
  const utc = Date.parse(`${date}T00:00:00Z`);
  // The clock may be changed on this very night, so the offset is looked up once more at the time that it gave.
  const guess = utc - offsetAt(utc, timeZone);
  return new Date(utc - offsetAt(guess, timeZone)).toISOString();
}

/** Day of a time in a time zone, as `YYYY-MM-DD`. */
export function dayIn(time: number, timeZone: string): string {
  return new Date(time).toLocaleDateString('en-CA', { timeZone });
}

function offsetAt(time: number, timeZone: string): number {
  const local = new Date(time).toLocaleString('sv-SE', { timeZone });
  return Date.parse(`${local.replace(' ', 'T')}Z`) - Math.floor(time / 1_000) * 1_000;
}
