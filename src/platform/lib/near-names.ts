/** A slip in a longer name is surely one; shorter names are too close to others' (HOST to HOSTS, PORT to PORTS). */
const MIN_LENGTH = 7;
/** From so many characters on two slips are still seen. */
const TWO_SLIPS_LENGTH = 10;

/**
 * The known name that somebody most likely meant; null where the name is known, or near to none. Case is no difference, but a slip.
 * A slip is a character too many, missing or wrong, or two in the wrong order.
 * @param name in upper case or not
 */
export function nearName(name: string, known: ReadonlySet<string>): string | null {
  if (known.has(name)) {
    return null;
  }
  const near = [...known]
    .filter((each) => each.length >= MIN_LENGTH)
    .map((each) => ({ each, slips: countSlips(name.toUpperCase(), each) }))
    .filter(({ each, slips }) => slips <= (each.length >= TWO_SLIPS_LENGTH ? 2 : 1))
    .sort((a, b) => a.slips - b.slips);
  return near[0]?.each ?? null;
}

/** The optimal string alignment distance. */
function countSlips(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) {
    return Infinity; // Enough to know.
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
