/**
 * Schema keyword of a password. A validator from `compileSchema` counts the characters of its normalised form (NFC), so the number does not
 * depend on the keyboard. The value itself stays as it was sent.
 */
export const PASSWORD_KEYWORD = 'x-password';

/**
 * Schema keyword of a name, a telephone number or an e-mail address. A validator from `compileSchema` first replaces the value by its
 * `trimmed` form. All other rules of the schema apply to this form.
 */
export const TRIMMED_KEYWORD = 'x-trimmed';

/** Options of a schema whose value is trimmed. */
export const TRIMMED = { [TRIMMED_KEYWORD]: true };

/**
 * Finds the part of a text between the invisible characters at its start and end. The class `.` and the greedy star make the search linear
 * in the length of the text. At the end, variation selectors and tags stay, because they are the ends of some emoji.
 */
const VISIBLE_PART =
  /^[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}]*(.*[^[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\p{Variation_Selector}\u{E0020}-\u{E007F}]])?/sv;

/**
 * Returns the text without spaces, format characters and other invisible characters at its start and end. People paste such characters
 * with a name or a number, and a search would not find the text behind them.
 */
export function trimmed(text: string): string {
  return VISIBLE_PART.exec(text)?.[1] ?? '';
}

/** The digit zero of each script that has decimal digits. The digits 1 to 9 follow each zero. */
const ZEROS = Array.from(
  '0٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀႐០᠐᥆᧐᪀᪐᭐᮰᱀᱐꘠꣐꤀꧐꧰꩐꯰０𐒠𐴰𐵀𑁦𑃰𑄶𑇐𑋰𑑐𑓐𑙐𑛀𑛐𑛚𑜰𑣠𑥐𑯰𑱐𑵐𑶠𑷠𑽐𖄰𖩠𖫀𖭐𖵰𜳰𝟎𝟘𝟢𝟬𝟶𞅀𞋰𞓰𞗱𞥐🯰',
  (zero) => zero.codePointAt(0) ?? 0,
);

const VALUES = new Map(
  ZEROS.flatMap((zero) =>
    Array.from({ length: 10 }, (_, value): [string, string] => [String.fromCodePoint(zero + value), String(value)]),
  ),
);

/** Returns the decimal digits of a text, those of any script as 0 to 9. */
export function digitsOf(text: string): string {
  return Array.from(text, (character) => VALUES.get(character) ?? '').join('');
}
