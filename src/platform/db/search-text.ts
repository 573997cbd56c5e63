import { type RawBuilder, sql } from 'kysely';
import { digitsOf } from '../lib/unicode.ts';

/** Number of characters of a name that a search compares. An entry of an index has a bound, and NFKD makes 18 characters of one rare one. */
const MAX_LENGTH = 60;

/** Letters that no normalization decomposes, with the letters that people type instead. */
const PLAIN = new Map(Object.entries({ ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ß: 's', ς: 'σ' }));

/** Returns the form of a name that searches compare: without case and accents, so that `ines` finds `Inês`. */
export function searchName(name: string): string {
  const letters = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
  return Array.from(letters)
    .slice(0, MAX_LENGTH)
    .map((letter) => PLAIN.get(letter) ?? letter)
    .join('');
}

/** Returns the form of a telephone number that searches compare: its digits, of any script as 0 to 9. Null: it has none. */
export function searchPhone(phone: string | null): string | null {
  return phone === null ? null : digitsOf(phone) || null;
}

export function searchEmail(email: string): string {
  return email.toLowerCase().normalize('NFC');
}

/** Character that is greater than every other character in the collation "C". */
const LAST_CHARACTER = '\u{10FFFF}';

/** Returns an SQL condition that is true if the column, which has names as `searchName` returns them, begins with this prefix. */
export function beginsWith(column: RawBuilder<unknown>, prefix: string): RawBuilder<boolean> {
  const begin = searchName(prefix);
  return sql`${column} BETWEEN ${begin} AND ${begin + LAST_CHARACTER}`;
}
