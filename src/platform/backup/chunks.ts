import { OperatorError } from '../errors.ts';
import { CHUNK_BYTES, MAX_CHUNK_BYTES } from './format.ts';

const LINE_FEED = 10;

/**
 * Divides the COPY text of a table into chunks of whole rows. A chunk has about `CHUNK_BYTES` bytes, or consists of one longer row.
 * @throws OperatorError if a row is longer than `MAX_CHUNK_BYTES`
 */
export async function* inChunks(text: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  /** Number of bytes in `parts` up to the end of the last complete row. 0 if `parts` has no complete row. */
  let whole = 0;
  for await (const part of text) {
    const end = part.lastIndexOf(LINE_FEED) + 1;
    whole = end > 0 ? bytes + end : whole;
    parts.push(part);
    bytes += part.length;
    if (bytes >= CHUNK_BYTES && whole > 0) {
      const joined = Buffer.concat(parts, bytes);
      yield joined.subarray(0, whole);
      // The bytes of the incomplete row are copied, because a view of them would keep all bytes of `joined` in memory.
      parts = [Buffer.from(joined.subarray(whole))];
      bytes -= whole;
      whole = 0;
    }
    if (bytes > MAX_CHUNK_BYTES) {
      throw new OperatorError(
        `A row of a table is longer than ${MAX_CHUNK_BYTES} bytes, and a backup cannot contain such a row. ` +
          'Back up the database with the tools of PostgreSQL, for example pg_dump.',
      );
    }
  }
  if (whole < bytes) {
    throw new Error('The COPY output of PostgreSQL ends in the middle of a row. Make the backup again.');
  }
  if (bytes > 0) {
    yield Buffer.concat(parts, bytes);
  }
}

/** Counts the rows of COPY text. Each line feed ends a row, because COPY escapes a line feed inside a value. */
export function countRows(text: Buffer): number {
  let rows = 0;
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) {
    rows += 1;
  }
  return rows;
}

/** Returns true if the COPY text ends with the end of a row. */
export function endsWithRow(text: Buffer): boolean {
  return text.at(-1) === LINE_FEED;
}
