import { type RawBuilder, sql } from 'kysely';

const CAPITALS = 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐØøŁłĐđÐðĦħŦŧÆŒÞŊıßẞ';
const SMALL = 'αβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґoollddddhhttæœþŋiss';

/**
 * Returns an SQL expression for a text without case and without accents, so that a search finds `Inês` by `ines`. It knows the Latin, the Greek
 * and the Cyrillic alphabet. The expression is immutable, so an index can have it. It uses neither the collation of the database nor an
 * extension, because both differ between servers. Migrations repeat this expression for their indexes, so it must not change.
 *
 * The result has at most 60 characters. Otherwise a text of rare characters could be too long for an index, because one character may become 18
 * characters when it is decomposed.
 */
export function folded(text: RawBuilder<unknown>): RawBuilder<string> {
  const withoutAccents = sql`regexp_replace(normalize(left(${text}, 100), NFKD), '[\\u0300-\\u036f]', '', 'g')`;
  return sql`translate(lower(left(${withoutAccents}, 60) COLLATE "C"), ${sql.lit(CAPITALS)}, ${sql.lit(SMALL)})`;
}

/** Returns an SQL expression for the digits of a text, so that `+351 912` equals `(351) 912`. Migrations repeat this expression too. */
export function digitsOf(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`regexp_replace(${text}, '[^0-9]', '', 'g')`;
}

/** Character that is greater than every other character in the collation "C". */
const LAST_CHARACTER = '\u{10FFFF}';

/** Returns an SQL condition: the folded text begins with the folded prefix. An index of `folded(text)` answers it. */
export function beginsWith(text: RawBuilder<unknown>, prefix: string): RawBuilder<boolean> {
  const begin = folded(sql`${prefix}::text`);
  return sql`${folded(text)} BETWEEN ${begin} AND ${begin} || ${sql.lit(LAST_CHARACTER)}`;
}
