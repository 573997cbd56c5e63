import { Readable } from 'node:stream';
import { withRetries } from '../db/failures.ts';
import type { WholeList } from '../db/whole-list.ts';

type ReadBatch<Row> = WholeList<Row>['readBatch'];

/** Number of rows in the first batch. The size of each later batch is chosen so that its text has about `BATCH_LENGTH` characters. */
const FIRST_BATCH = 100;
const SMALLEST_BATCH = 20;
const LARGEST_BATCH = 500;
const BATCH_LENGTH = 64 * 1024;
const PIECE_BYTES = 32 * 1024;

/** Yields the texts of a JSON array batch by batch, so that a slow reader holds little memory and no connection (rule 10). */
export async function* arrayTexts<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  render: (row: Row) => unknown,
): AsyncGenerator<string> {
  let separator = '[';
  let afterId: string | null = null;
  let batchSize = FIRST_BATCH;
  for (let isLast = false; !isLast; ) {
    const batch: Awaited<ReturnType<typeof readAndRender>> = await readAndRender(readBatch, render, afterId, batchSize);
    if (batch.count > 0) {
      yield separator + batch.text;
      separator = ',';
    }
    isLast = batch.count < batchSize;
    afterId = batch.lastId;
    batchSize = rowsOf(batch.text.length / batch.count);
  }
  yield separator === '[' ? '[]' : ']';
}

/** A separate function, so that its rows do not stay in memory while a slow reader takes the batch. */
async function readAndRender<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  render: (row: Row) => unknown,
  afterId: string | null,
  batchSize: number,
) {
  // Retries the read if the database connection breaks. Otherwise a response that has already begun would have to be cut off.
  const rows = await withRetries(() => readBatch(afterId, batchSize));
  const text = JSON.stringify(rows.map(render)).slice(1, -1);
  return { text, count: rows.length, lastId: rows.at(-1)?.id ?? null };
}

function rowsOf(lengthOfOne: number): number {
  return Math.min(Math.max(Math.round(BATCH_LENGTH / lengthOfOne), SMALLEST_BATCH), LARGEST_BATCH);
}

/** Converts texts to a stream. Waits for the first text, so that a lost database gives a 503 and not a response that is cut off. */
export async function streamTexts(texts: AsyncGenerator<string>): Promise<Readable> {
  const pieces = inPieces(texts);
  const first = await pieces.next();
  return Readable.from(resume(first, pieces), { objectMode: false, highWaterMark: PIECE_BYTES });
}

async function* resume(first: IteratorResult<Buffer>, pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done !== true) {
    yield first.value;
    yield* pieces;
  }
}

async function* inPieces(texts: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) {
    yield* slicesOf(Buffer.from(text));
  }
}

export function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES);
  }
}
