import { Readable } from 'node:stream';
import { withRetries } from '../db/failures.ts';
import type { WholeList } from '../db/whole-list.ts';

/** Reads at most `limit` rows, beginning after the row with the id `afterId`. If `afterId` is null, begins with the first row. */
type ReadBatch<Row> = WholeList<Row>['readBatch'];

/** Number of rows in the first batch. The size of each later batch is chosen so that its text has about `BATCH_LENGTH` characters. */
const FIRST_BATCH = 100;
const SMALLEST_BATCH = 20;
const LARGEST_BATCH = 500;
const BATCH_LENGTH = 64 * 1024;
/** Maximum number of bytes of one write to the stream. */
const PIECE_BYTES = 32 * 1024;

/**
 * Yields the texts of a JSON array. Reads the next batch of rows only when the reader has taken the previous batch. So the memory does not
 * grow with the length of the list, and a slow reader holds no database connection (decision 10). While the reader takes a batch, the
 * memory holds its text, but no longer its rows.
 */
export async function* arrayTexts<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  render: (row: Row) => unknown,
): AsyncGenerator<string> {
  let separator = '[';
  let afterId: string | null = null;
  let batchSize = FIRST_BATCH;
  for (let isLast = false; !isLast; ) {
    const batch: RenderedBatch = await readAndRender(readBatch, render, afterId, batchSize);
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

interface RenderedBatch {
  /** JSON of the entries, with commas between them. */
  text: string;
  count: number;
  lastId: string | null;
}

/**
 * Reads and renders one batch. This function is separate, so that its local variables do not stay in memory while a slow reader takes the
 * batch.
 */
async function readAndRender<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  render: (row: Row) => unknown,
  afterId: string | null,
  batchSize: number,
): Promise<RenderedBatch> {
  // Retries the read if the database connection breaks. Otherwise a response that has already begun would have to be cut off.
  const rows = await withRetries(() => readBatch(afterId, batchSize));
  const text = JSON.stringify(rows.map(render)).slice(1, -1);
  return { text, count: rows.length, lastId: rows.at(-1)?.id ?? null };
}

function rowsOf(lengthOfOne: number): number {
  return Math.min(Math.max(Math.round(BATCH_LENGTH / lengthOfOne), SMALLEST_BATCH), LARGEST_BATCH);
}

/**
 * Converts texts to a stream of bytes. Waits for the first text before it returns. So if the database is out of reach, the caller gets a
 * 503 and not a response that is cut off.
 */
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

/** Splits bytes into slices that share their memory. */
export function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES);
  }
}
