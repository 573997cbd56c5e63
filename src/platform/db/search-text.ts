import { type RawBuilder, sql } from 'kysely';
import { FOREIGN_DIGITS } from '../lib/unicode.ts';

const CAPITALS = 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐØøŁłĐđÐðĦħŦŧÆŒÞŊıßẞ';
const SMALL = 'αβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґoollddddhhttæœþŋiss';

/**
 * Returns an SQL expression that removes case and accents from a text, so that a search for `ines` finds `Inês`. The expression handles the
 * Latin, the Greek and the Cyrillic alphabet. The expression is immutable, so an index can use it. It uses neither the collation of the
 * database nor an extension, because both differ between servers. Migrations repeat this expression for their indexes, so it must not
 * change.
 *
 * The expression reads only the first 100 characters of the text, and cuts its result after 60 characters. Without the cut, the result
 * might be too large for an index, because the normalization (NFKD) may turn one rare character into 18 characters.
 */
export function folded(text: RawBuilder<unknown>): RawBuilder<string> {
  const withoutAccents = sql`regexp_replace(normalize(left(${text}, 100), NFKD), '[\\u0300-\\u036f]', '', 'g')`;
  return sql`translate(lower(left(${withoutAccents}, 60) COLLATE "C"), ${sql.lit(CAPITALS)}, ${sql.lit(SMALL)})`;
}

/**
 * Returns an SQL expression that keeps only the digits 0 to 9 of a text. Migrations repeat this expression for their indexes, so it must
 * not change.
 */
function asciiDigitsOf(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`regexp_replace(${text}, '[^0-9]', '', 'g')`;
}

/** Number of scripts whose digits `FOREIGN_DIGITS` has. */
const FOREIGN_SETS = Array.from(FOREIGN_DIGITS).length / 10;

/** Character that is greater than every other character in the collation "C". */
const LAST_CHARACTER = '\u{10FFFF}';

/**
 * Returns an SQL condition that is true if the text in the column begins with the prefix. The comparison ignores case and accents.
 * PostgreSQL can use an index on the expression of `folded` for this condition, also if the index leaves out NULL values (`WHERE … IS NOT
 * NULL`).
 */
export function beginsWith(column: RawBuilder<unknown>, prefix: string): RawBuilder<boolean> {
  const begin = folded(sql`${prefix}::text`);
  return sql`${column} IS NOT NULL AND ${folded(column)} BETWEEN ${begin} AND ${begin} || ${sql.lit(LAST_CHARACTER)}`;
}

/**
 * Returns the same condition as `beginsWith`, in a form that is cheap for many rows but that no index has. For a text of ASCII, `folded` only
 * lowers the letters, so this condition leaves out the rest.
 */
export function beginsWithUnindexed(column: RawBuilder<unknown>, prefix: string): RawBuilder<boolean> {
  const isAscii = sql`octet_length(${column}) = char_length(${column})`;
  const text = sql`CASE WHEN ${isAscii} THEN lower(left(${column}, 60) COLLATE "C") ELSE ${folded(column)} END`;
  const begin = sql`(SELECT ${folded(sql`${prefix}::text`)})`;
  return sql`${text} BETWEEN ${begin} AND ${begin} || ${sql.lit(LAST_CHARACTER)}`;
}

/**
 * Returns an SQL condition that is true if the column has these digits, in this order and in any script. For example, `+351 912` has the
 * digits `351912`. PostgreSQL can use two indexes for this condition: one on the expression of `asciiDigitsOf`, and one on the expression
 * below, which has only the few texts with other characters than those of ASCII. Migrations repeat both.
 */
export function hasDigits(column: RawBuilder<unknown>, digits: string): RawBuilder<boolean> {
  const isForeign = sql`octet_length(${column}) > char_length(${column})`;
  const translated = sql`translate(${column}, ${sql.lit(FOREIGN_DIGITS)}, ${sql.lit('0123456789'.repeat(FOREIGN_SETS))})`;
  return sql`(
    ${column} IS NOT NULL AND ${asciiDigitsOf(column)} = ${digits} AND NOT ${isForeign}
    OR ${isForeign} AND ${asciiDigitsOf(translated)} = ${digits}
  )`;
}

/**
 * Returns an SQL condition that is true if the column has this e-mail address, in upper or lower case. PostgreSQL can use two indexes for
 * this condition: one on the column, and one on the expression of `lowerEmail`, which has only the addresses that are not in this form.
 * Migrations repeat both.
 */
export function isEmail(column: RawBuilder<unknown>, email: string): RawBuilder<boolean> {
  const wanted = lowerEmail(sql`${email}::text`);
  // The index on the column has the collation of the column, and `lowerEmail` another one.
  return sql`(${column} = ${wanted} COLLATE "default" OR ${column} <> ${lowerEmail(column)} AND ${lowerEmail(column)} = ${wanted})`;
}

/** Decomposes accents for `lower`, which knows only the letters of ASCII in the collation "C". */
function lowerEmail(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`left(normalize(lower(normalize(${text}, NFD) COLLATE "C"), NFC), 254)`;
}
