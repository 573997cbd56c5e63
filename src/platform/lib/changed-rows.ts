import { isDeepStrictEqual } from 'node:util';

/** A row that has to be written: as it is stored, undefined for a new one, and as it is wanted. */
export interface ChangedRow<Row> {
  before: Row | undefined;
  after: Row;
}

/** Wanted rows that are new or different, and stored ones that are no longer wanted, made inactive. */
export function changedRows<Row extends { id: string; is_active: boolean }>(
  stored: Row[],
  wanted: Row[],
): ChangedRow<Row>[] {
  const storedById = new Map(stored.map((row) => [row.id, row]));
  const named = new Set(wanted.map((row) => row.id));
  const unnamed = stored.filter((row) => !named.has(row.id)).map((row) => ({ ...row, is_active: false }));
  return [...wanted, ...unnamed]
    .map((after) => ({ before: storedById.get(after.id), after }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
}

export function rowsToWrite<Row>(changed: ChangedRow<Row>[]): Row[] {
  return changed.map(({ after }) => after);
}
