/**
 * Schema keyword of a password. A validator from `compileSchema` counts the characters of its normalised form (NFC), so the number does not
 * depend on the keyboard. The value itself stays as it was sent.
 */
export const PASSWORD_KEYWORD = 'x-password';

/**
 * Returns the forms of a secret text under which it may have been stored, each once. The first is the form under which it is stored from
 * then on (NFC). A Mac or a phone may send the same letters in decomposed form (NFD). Older versions stored the text as it was sent, which
 * may also be a mixture of both forms.
 */
export function formsOf(secret: string): [stored: string, ...older: string[]] {
  const stored = secret.normalize('NFC');
  return [stored, ...new Set([secret, secret.normalize('NFD')]).difference(new Set([stored]))];
}
