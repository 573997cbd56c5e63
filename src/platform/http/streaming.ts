import { Readable } from 'node:stream';
import { retrying } from '../db/failures.ts';
import type { KeysetList } from '../db/keyset-list.ts';
import { startTurn } from '../lib/turn.ts';

/** Reads up to `limit` rows that come after the one with the given id (null: from the start). */
type ReadBatch<Row> = KeysetList<Row>['readBatch'];

/** Turns rows into texts of JSON, each of one entry or of several with commas between. */
export type RenderBatch<Row> = (rows: Row[]) => Iterable<string> | AsyncIterable<string>;

/** Rows read first; from then on as many as come to about `BATCH_LENGTH` of text. */
const FIRST_BATCH = 100;
const SMALLEST_BATCH = 20;
const LARGEST_BATCH = 500;
const BATCH_LENGTH = 64 * 1024;
/** Bytes that are handed on at once. */
const PIECE_BYTES = 32 * 1024;

/**
 * A JSON array as texts, read batch by batch as fast as they are taken: memory does not grow with the list, and no connection is held
 * while a slow client reads (decision 10). Of a batch no more is held than its text.
 */
export async function* arrayTexts<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  renderBatch: RenderBatch<Row>,
  largestBatch = LARGEST_BATCH,
): AsyncGenerator<string> {
  let separator = '[';
  let afterId: string | null = null;
  let batchSize = Math.min(FIRST_BATCH, largestBatch);
  for (let isLast = false; !isLast; ) {
    const batch: RenderedBatch = await readAndRender(readBatch, renderBatch, afterId, batchSize);
    let length = 0;
    for await (const text of batch.texts) {
      yield separator + text;
      separator = ',';
      length += text.length;
    }
    isLast = batch.count < batchSize;
    afterId = batch.lastId;
    batchSize = Math.min(rowsOf(length / batch.count), largestBatch);
  }
  yield separator === '[' ? '[]' : ']';
}

interface RenderedBatch {
  texts: Iterable<string> | AsyncIterable<string>;
  count: number;
  lastId: string | null;
}

/** A function of its own: what is only needed in it is not held while a reader takes its time. */
async function readAndRender<Row extends { id: string }>(
  readBatch: ReadBatch<Row>,
  renderBatch: RenderBatch<Row>,
  afterId: string | null,
  batchSize: number,
): Promise<RenderedBatch> {
  // An answer that has begun can only be cut off, so a connection that broke must not end it.
  const rows = await retrying(() => readBatch(afterId, batchSize));
  return { texts: renderBatch(rows), count: rows.length, lastId: rows.at(-1)?.id ?? null };
}

function rowsOf(lengthOfOne: number): number {
  return Math.min(Math.max(Math.round(BATCH_LENGTH / lengthOfOne), SMALLEST_BATCH), LARGEST_BATCH);
}

/** Texts as a stream of bytes. The first is made before this returns, so that a database out of reach is still a clean 503. */
export async function streamTexts(texts: AsyncGenerator<string>): Promise<Readable> {
  const pieces = inPieces(texts);
  const first = await pieces.next();
  return Readable.from(goOn(first, pieces), { objectMode: false, highWaterMark: PIECE_BYTES });
}

async function* goOn(first: IteratorResult<Buffer>, pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done !== true) {
    yield first.value;
    yield* pieces;
  }
}

async function* inPieces(texts: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) {
    if (text.length > BATCH_LENGTH) {
      await startTurn().next();
    }
    yield* slicesOf(Buffer.from(text));
  }
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES);
  }
}

/** Joins texts to pieces of some 64 KiB, outside V8's heap. */
export class TextPieces {
  readonly #pieces: Buffer[] = [];
  #texts: string[] = [];
  #length = 0;

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length >= BATCH_LENGTH) {
      this.#join();
    }
  }

  /** All of them. */
  end(): Buffer[] {
    if (this.#length > 0) {
      this.#join();
    }
    return this.#pieces;
  }

  #join(): void {
    this.#pieces.push(Buffer.from(this.#texts.join('')));
    this.#texts = [];
    this.#length = 0;
  }
}
