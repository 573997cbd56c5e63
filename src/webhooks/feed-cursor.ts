/** The form of a cursor: a position in the feed; before it, and a hyphen, the era where that is not 0. */
export const CURSOR_PATTERN = '(?:[0-9]{1,15}-)?[0-9]{1,15}';

/** @param after of the form of `CURSOR_PATTERN`, or empty: position 0 of era 0 */
export function parseCursor(after: string): { era: number; position: number } {
  const [position, era] = after.split('-').reverse();
  return { era: Number(era ?? 0), position: Number(position) };
}

/** A plain number in era 0, as it was before there were eras. */
export function cursorText(era: number, position: number): string {
  return era === 0 ? String(position) : `${era}-${position}`;
}
