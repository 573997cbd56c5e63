/** A shorter name is often similar to a variable of another program. For example, HOSTS is no misspelled HOST. */
const MIN_SETTING_LENGTH = 7;
/** A known name of this length may have two typing errors, and a shorter one only one. */
const TWO_TYPOS_LENGTH = 10;

/** Returns the known name that a misspelled name most likely stands for, or null. Differences in case are no typing errors. */
export function nearName(name: string, known: ReadonlySet<string>, minLength = MIN_SETTING_LENGTH): string | null {
  if (known.has(name)) {
    return null;
  }
  const near = [...known]
    .filter((each) => each.length >= minLength)
    .map((each) => ({ each, typos: countTypos(name.toUpperCase(), each.toUpperCase()) }))
    .filter(({ each, typos }) => typos <= (each.length >= TWO_TYPOS_LENGTH ? 2 : 1))
    .sort((a, b) => a.typos - b.typos);
  return near[0]?.each ?? null;
}

/** Optimal string alignment distance, or Infinity if the lengths differ by more than 2. */
function countTypos(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) {
    return Infinity;
  }
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= one.length; row += 1) {
    rows[row] = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      (rows[row] as number[])[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(one.length, other.length);
}
