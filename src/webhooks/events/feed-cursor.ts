/** A place in a feed. */
export interface Cursor {
  era: number;
  /** 0: the start, in any era. */
  position: number;
}

/** The position; before it, and a hyphen, the era where that is not 0. Empty: the start. */
const CURSOR = /^(?:(?:(?<era>[0-9]{1,15})-)?(?<position>[0-9]{1,15}))?$/;

/** @returns null where the text has not the form of a cursor */
export function parseCursor(text: string): Cursor | null {
  const parts = CURSOR.exec(text);
  return parts === null
    ? null
    : { era: Number(parts.groups?.['era'] ?? 0), position: Number(parts.groups?.['position'] ?? 0) };
}

/** A plain number in era 0, as it was before there were eras. */
export function cursorText({ era, position }: Cursor): string {
  return era === 0 ? String(position) : `${era}-${position}`;
}
