/**
 * Name of a keyword of a JSON schema. The keyword says in words which texts the keyword `pattern` beside it allows. Error messages show the
 * words and never the pattern. The generator of the OpenAPI documents (tools/openapi) leaves the words out.
 */
export const IN_WORDS = 'x-in-words';

/** Returns the keywords of a text that must match a pattern. @param words ending of an error message, which begins with `must` */
export function matching(pattern: string, words: string) {
  return { pattern, [IN_WORDS]: words };
}
