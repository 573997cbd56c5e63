import { isDeepStrictEqual } from 'node:util';

export interface ChangedRow<Row> {
  before: Row | undefined;
  after: Row;
}

/** Returns the wanted rows that are new or different, and the stored rows that are not wanted, with `is_active` false. */
export function changedRows<Row extends { id: string; is_active: boolean }>(
  stored: Row[],
  wanted: Row[],
): ChangedRow<Row>[] {
  const storedById = new Map(stored.map((row) => [row.id, row]));
  const wantedIds = new Set(wanted.map((row) => row.id));
  const deactivated = stored.filter((row) => !wantedIds.has(row.id)).map((row) => ({ ...row, is_active: false }));
  return [...wanted, ...deactivated]
    .map((after) => ({ before: storedById.get(after.id), after }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
}

export function rowsToWrite<Row>(changed: ChangedRow<Row>[]): Row[] {
  return changed.map(({ after }) => after);
}
