import { useMe } from '../api/session.ts';

/** Returns formatters for the house's currency and time zone. Dates are `YYYY-MM-DD` and money is text, as the API has them. */
export function useFormat(): Formats {
  const { currency, timezone } = useMe().tenant;
  const key = `${currency} ${timezone}`;
  if (made?.key !== key) made = { key, formats: makeFormats(currency, timezone) };
  return made.formats;
}

export type Formats = ReturnType<typeof makeFormats>;

let made: { key: string; formats: Formats } | null = null;

function makeFormats(currency: string, timeZone: string) {
  const money = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  const formatterOf = (options: Intl.DateTimeFormatOptions, locale?: string) => {
    const formatter = new Intl.DateTimeFormat(locale, { timeZone, ...options });
    return (at: string | number) => formatter.format(new Date(at));
  };
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const clock = formatterOf(time);
  const dayAndTime = formatterOf({ ...time, day: 'numeric', month: 'short' });
  const dayOf = formatterOf({}, 'en-CA');
  return {
    /** `amount` as the API has it, for example `12.50`. */
    money: (amount: string) => money.format(amount as unknown as number),
    clock,
    clockWithSeconds: formatterOf({ ...time, second: '2-digit' }),
    dayAndTime,
    /** Day of a time in the house's time zone, as `YYYY-MM-DD`. */
    dayOf,
    /** Short form of a past time: the clock if it was today, else day and clock. */
    moment: (at: string | number, now: number) => (dayOf(at) === dayOf(now) ? clock : dayAndTime)(at),
  };
}

const DATE = { timeZone: 'UTC', day: 'numeric', month: 'short' } as const;
const shortDate = new Intl.DateTimeFormat(undefined, DATE);
const longDate = new Intl.DateTimeFormat(undefined, { ...DATE, weekday: 'short' });
const yearDate = new Intl.DateTimeFormat(undefined, { ...DATE, year: 'numeric' });
export const weekday = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', weekday: 'short' });

/** `2026-11-29` → `29 Nov`. */
export function formatDate(date: string, form: 'short' | 'weekday' | 'year' = 'short'): string {
  return { short: shortDate, weekday: longDate, year: yearDate }[form].format(new Date(`${date}T00:00:00Z`));
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** Length of time in words as short as they can be called out: `12 s`, `7 min`, `2 h 05`, `3 d`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')}`;
  return `${Math.floor(hours / 24)} d`;
}

/** `1 order`, `2 orders`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** Returns what a person has typed as an amount of the API (`€ 1,234.5` → `1234.50`), or null if it is none. */
export function amountOf(text: string): string | null {
  const plain = text.replace(/[\s\p{Sc}]|,(?=\d{3}(?:\D|$))/gu, '').replace(',', '.');
  return /^\d{1,8}(?:\.\d{0,2})?$/.test(plain) ? Number(plain).toFixed(2) : null;
}

export const TYPE_PRICE = 'Type a price such as 120 or 99.50.';

/** Adds amounts of money. Hundredths are whole numbers, so nothing is rounded. */
export function sumOf(amounts: string[]): string {
  return (amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 100), 0) / 100).toFixed(2);
}

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
