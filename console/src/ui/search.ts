import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Reads one search parameter. Undefined: it is not there, or not valid. */
type Reader = (text: string | undefined) => unknown;

/**
 * Returns the function that reads what a screen keeps in the address. Anybody may send a link, and the router merges the result over what
 * the address has, so what is not valid is named as undefined.
 */
export function searchOf<Readers extends Record<string, Reader>>(readers: Readers) {
  const textOf = (value: unknown) =>
    (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;
  return (search: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(textOf(search[name]))])) as {
      [Name in keyof Readers]?: ReturnType<Readers[Name]>;
    };
}

/** What the address has of a screen, and a function that changes it. Only what opens one of the `places` is a step that Back takes back. */
export function useAddress<Search extends object>(...places: (keyof Search)[]) {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const set = useCallback(
    (change: Search) => {
      const replace = !places.some((name) => name in change);
      void navigate({ to: '.', search: (present) => ({ ...present, ...change }), replace });
    },
    [navigate],
  );
  return { search: search as Search, set };
}

export function anyText(text: string | undefined): string | undefined {
  return text;
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  value: string | undefined,
): Value | undefined {
  return values.find((each) => each === value);
}

/** List, drawer and dialog of a screen, as the address has them. */
export interface ListSearch<Kind extends string> {
  kind?: Kind;
  open?: string;
  new?: '1';
}

/** Returns the function that reads `ListSearch` from an address, for a screen whose other lists have these names. */
export function listSearch<Kind extends string>(
  ...kinds: Kind[]
): (search: Record<string, unknown>) => ListSearch<Kind> {
  return searchOf({ kind: (text) => oneOf(kinds, text), open: anyText, new: (text) => oneOf(['1'], text) });
}

/** Returns the text if it is a date as `YYYY-MM-DD`, else undefined. A browser takes 30 February for 2 March. */
export function dateOf(text = ''): string | undefined {
  const time = /^[12]\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined;
}
