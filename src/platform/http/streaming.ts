import { Readable } from 'node:stream';
import { withRetries } from '../db/failures.ts';
import type { WholeList } from '../db/whole-list.ts';

/** Number of rows in the first batch. The size of each later batch is chosen so that its text has about `BATCH_LENGTH` characters. */
const FIRST_BATCH = 100;
const SMALLEST_BATCH = 20;
const LARGEST_BATCH = 500;
const BATCH_LENGTH = 64 * 1024;
const PIECE_BYTES = 32 * 1024;

/** Yields the texts of a JSON array batch by batch, so that a slow reader holds little memory and no connection (rule 10). */
export async function* arrayTexts<Row extends { id: string }>(
  readBatch: WholeList<Row>['readBatch'],
  render: (row: Row) => unknown,
): AsyncGenerator<string> {
  // A function of its own, so that its rows do not stay in memory while a slow reader takes the batch.
  const readAndRender = async (afterId: string | null, size: number) => {
    // Retries the read if the database connection breaks. Otherwise a response that has already begun would have to be cut off.
    const rows = await withRetries(() => readBatch(afterId, size));
    const text = JSON.stringify(rows.map(render)).slice(1, -1);
    return { text, count: rows.length, lastId: rows.at(-1)?.id ?? null };
  };
  let batch = await readAndRender(null, FIRST_BATCH);
  yield `[${batch.text}`;
  for (let size = FIRST_BATCH; batch.count === size; ) {
    size = rowsOf(batch.text.length / batch.count);
    batch = await readAndRender(batch.lastId, size);
    if (batch.count > 0) {
      yield `,${batch.text}`;
    }
  }
  yield ']';
}

function rowsOf(lengthOfOne: number): number {
  return Math.min(Math.max(Math.round(BATCH_LENGTH / lengthOfOne), SMALLEST_BATCH), LARGEST_BATCH);
}

/** Converts texts to a stream. Waits for the first text, so that a lost database gives a 503 and not a response that is cut off. */
export async function streamTexts(texts: AsyncGenerator<string>): Promise<Readable> {
  const first = await texts.next();
  return Readable.from(inPieces(first, texts), { objectMode: false, highWaterMark: PIECE_BYTES });
}

async function* inPieces(first: IteratorResult<string>, others: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  yield* slicesOf(Buffer.from(first.done === true ? '' : first.value));
  for await (const text of others) {
    yield* slicesOf(Buffer.from(text));
  }
}

export function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES);
  }
}
