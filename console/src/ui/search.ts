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

/** List, drawer and dialog of a screen, as the address has them. */
export interface ListSearch<Kind extends string> {
  /** Which of several lists. Left out: the first one. */
  kind?: Kind;
  /** Id of what is in the drawer. */
  open?: string;
  /** The dialog for a new one is open. */
  new?: '1';
}

/** Returns the function that reads `ListSearch` from an address, for a screen whose other lists have these names. */
export function listSearch<Kind extends string>(...kinds: Kind[]) {
  return (search: Record<string, unknown>): ListSearch<Kind> => {
    const { kind, open, new: isNew } = textsOf(search, ['kind', 'open', 'new']);
    return { kind: oneOf(kinds, kind), open, new: oneOf(['1'], isNew) };
  };
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Returns the text if it is a date as `YYYY-MM-DD`, else undefined. */
export function dateOf(text: string | undefined): string | undefined {
  return text !== undefined && DATE.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}
