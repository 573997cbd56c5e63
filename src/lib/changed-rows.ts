import { isDeepStrictEqual } from 'node:util';

/** Wanted rows that are new or different, and stored ones that are no longer wanted, made inactive. */
export function changedRows<Row extends { id: string; is_active: boolean }>(stored: Row[], wanted: Row[]): Row[] {
  const named = new Set(wanted.map((row) => row.id));
  const unnamed = stored.filter((row) => !named.has(row.id)).map((row) => ({ ...row, is_active: false }));
  return [...wanted, ...unnamed].filter(
    (row) =>
      !isDeepStrictEqual(
        row,
        stored.find((each) => each.id === row.id),
      ),
  );
}
