import { type RawBuilder, sql } from 'kysely';

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
 * Returns an SQL expression that keeps only the digits of a text. Migrations repeat this expression for their indexes, so it must not
 * change.
 */
function digitsOf(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`regexp_replace(${text}, '[^0-9]', '', 'g')`;
}

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
 * Returns an SQL condition that is true if the column and the text have the same digits in the same order. For example, `+351 912` equals
 * `(351) 912`. PostgreSQL can use an index on the expression of `digitsOf` for this condition, also if the index leaves out NULL values
 * (`WHERE … IS NOT NULL`).
 */
export function hasDigitsOf(column: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  return sql`${column} IS NOT NULL AND ${digitsOf(column)} = ${digitsOf(sql`${text}::text`)}`;
}
