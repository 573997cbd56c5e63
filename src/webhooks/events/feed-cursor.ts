/** Position in a feed of events, up to which a reader has read. */
export interface Cursor {
  /** Feed era in which the cursor was given. 0: the database was never restored. */
  era: number;
  /** Number of the last event read. 0: the start of the feed, in any era. */
  position: number;
}

/** Form of a cursor: `<position>` in era 0, otherwise `<era>-<position>`. An empty text means the start of the feed. */
const CURSOR = /^(?:(?:(?<era>[0-9]{1,15})-)?(?<position>[0-9]{1,15}))?$/;

/** Parses a cursor. Returns null if the text does not have the form of a cursor. */
export function parseCursor(text: string): Cursor | null {
  const parts = CURSOR.exec(text);
  return parts === null
    ? null
    : { era: Number(parts.groups?.['era'] ?? 0), position: Number(parts.groups?.['position'] ?? 0) };
}

/** Returns the text of a cursor. In era 0 it is only the position, as it was before eras were introduced. */
export function cursorText({ era, position }: Cursor): string {
  return era === 0 ? String(position) : `${era}-${position}`;
}
