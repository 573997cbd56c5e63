/** Position in an event feed up to which a client has read. */
export interface Cursor {
  /** Feed era in which the client got the cursor. Each restore begins an era with a greater number. 0: the database was never restored. */
  era: number;
  /** Position of the last event that the client has read. 0: the start of the feed, which is valid in every era. */
  position: number;
}

/** Format of a cursor: `<position>` in era 0, otherwise `<era>-<position>`. An empty text means the start of the feed. */
const CURSOR = /^(?:(?:(?<era>[0-9]{1,15})-)?(?<position>[0-9]{1,15}))?$/;

/** Parses a cursor. Returns null if the text does not have the format of a cursor. */
export function parseCursor(text: string): Cursor | null {
  const parts = CURSOR.exec(text);
  return parts === null
    ? null
    : { era: Number(parts.groups?.['era'] ?? 0), position: Number(parts.groups?.['position'] ?? 0) };
}

export function cursorText({ era, position }: Cursor): string {
  return era === 0 ? String(position) : `${era}-${position}`;
}
