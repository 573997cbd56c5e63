/** Keyword of a password. Its characters are counted in NFC, so the number does not depend on the keyboard. */
export const PASSWORD_KEYWORD = 'x-password';

/** Keyword of a name, a number or an e-mail address. Its `trimmed` form replaces it before all other rules apply. */
export const TRIMMED_KEYWORD = 'x-trimmed';

export const TRIMMED = { [TRIMMED_KEYWORD]: true };

/** The class `.` and the greedy star make the search linear. At the end, variation selectors and tags stay, as ends of some emoji. */
const VISIBLE_PART =
  /^[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}]*(.*[^[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\p{Variation_Selector}\u{E0020}-\u{E007F}]])?/sv;

/** Returns the text without invisible characters at its ends, which people paste, and behind which a search would find nothing. */
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

export function digitsOf(text: string): string {
  return Array.from(text, (character) => VALUES.get(character) ?? '').join('');
}

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
