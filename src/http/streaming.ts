import { Readable } from 'node:stream';
import { retrying } from '../db/failures.ts';

/** Rows of a long list are read in batches of this many: a few hundred kilobytes in memory at a time. */
const DEFAULT_BATCH_SIZE = 500;

/** Reads up to `limit` rows that come after the one with the given id (null: from the start). */
export type ReadBatch<Row> = (afterId: string | null, limit: number) => Promise<Row[]>;

/**
 * A JSON array as a stream, read batch by batch as fast as the client takes it: memory does not grow with the list, and no
 * connection is held while a slow client reads (decision 10). The first batch is read before this returns, so that a
 * database out of reach is still a clean 503.
 */
export async function streamArray<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  render: (row: Row) => unknown,
  batchSize = DEFAULT_BATCH_SIZE,
): Promise<Readable> {
  const first = await readBatch(null, batchSize);
  return Readable.from(renderBatches(first, readBatch, render, batchSize), {
    objectMode: false,
    highWaterMark: 64 * 1024,
  });
}

async function* renderBatches<Row extends { id: string }>(
  first: Row[],
  readBatch: ReadBatch<Row>,
  render: (row: Row) => unknown,
  batchSize: number,
): AsyncGenerator<string> {
  let separator = '[';
  let batch = first;
  for (;;) {
    const text = batch.map((row) => JSON.stringify(render(row))).join(',');
    if (text !== '') {
      yield separator + text;
      separator = ',';
    }
    const last = batch.at(-1);
    if (last === undefined || batch.length < batchSize) {
      break;
    }
    const afterId = last.id;
    // An answer that has begun can only be cut off, so a connection that broke must not end it.
    batch = await retrying(() => readBatch(afterId, batchSize));
  }
  yield separator === '[' ? '[]' : ']';
}
