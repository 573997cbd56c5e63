/** Keeps the named search parameters that are texts, and drops all others, because anybody may send a link. */
export function textsOf<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const kept = names.filter((name) => ['string', 'number'].includes(typeof search[name]) && search[name] !== '');
  return Object.fromEntries(kept.map((name) => [name, String(search[name])])) as Partial<Record<Name, string>>;
}
