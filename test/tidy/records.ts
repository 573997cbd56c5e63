const NAME = /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/;
/** Largest size of a note in bytes, which is about a page. */
const MAX_BYTES = 3_072;

/**
 * Finds faults in the notes on decisions. Each note must have a number of its own, fit on a page, and have a row in the index.
 * @param notes path and text of each file in `docs/decisions/` except the index
 */
export function decisionNotes(notes: [path: string, text: string][], index: string): string[] {
  return notes.flatMap(([path, text], place) => {
    const number = NAME.exec(path)?.[1] ?? '';
    const isFirst = notes.findIndex(([other]) => NAME.exec(other)?.[1] === number) === place;
    return [
      ...(number !== '' && isFirst ? [] : [`${path}: its name does not begin with a number of its own`]),
      ...(Buffer.byteLength(text) <= MAX_BYTES ? [] : [`${path}: it is longer than ${MAX_BYTES} bytes`]),
      ...(index.includes(`(${path.split('/').at(-1)})`) ? [] : [`${path}: the index has no row for it`]),
    ];
  });
}
