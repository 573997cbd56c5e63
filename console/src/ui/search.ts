/**
 * Returns the named search parameters that are texts, and undefined for all others, because anybody may send a link. The router merges this
 * over what the address has, so what is not valid must be named as undefined.
 */
export function textsOf<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Record<Name, string | undefined> {
  const textOf = (value: unknown) =>
    (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;
  return Object.fromEntries(names.map((name) => [name, textOf(search[name])])) as Record<Name, string | undefined>;
}

/** Returns the value if it is one of the values, else undefined. */
export function oneOf<Value extends string>(values: readonly Value[], value: string | undefined): Value | undefined {
  return values.find((each) => each === value);
}

/** Returns the text if it is a day, `YYYY-MM-DD`, else undefined. */
export function dayIn(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}
