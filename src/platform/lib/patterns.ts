/** Keyword that says in words which texts `pattern` allows. Messages show the words, and the OpenAPI documents leave them out. */
export const IN_WORDS = 'x-in-words';

/** Returns the keywords of a text that must match a pattern. @param words ending of an error message, which begins with `must` */
export function matching(pattern: string, words: string) {
  return { pattern, [IN_WORDS]: words };
}
