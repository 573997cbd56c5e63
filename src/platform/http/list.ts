import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { KeysetList } from '../db/keyset-list.ts';
import { offsetOf, type PageFrame, type PageQuery, pageBody, pageFrame, requestedPage } from './paging.ts';
import { arrayTexts, type RenderBatch, streamTexts } from './streaming.ts';

export interface LongList<Row> extends KeysetList<Row> {
  /** Rows read at a time at most, where they are large. */
  batchSize?: number;
}

type ListRequest = FastifyRequest<{ Querystring: PageQuery }>;

/**
 * Answers a list that has no upper bound: streamed whole, or one page of it where the caller asks for one (decision 10).
 * @throws ApiError 429 `rate_limited` while too many others wait for the same reader
 */
export async function sendLongList<Row extends { id: string }>(
  request: ListRequest,
  reply: FastifyReply,
  list: LongList<Row>,
  render: (row: Row) => unknown,
): Promise<never> {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    const renderBatch = (rows: Row[]) => (rows.length === 0 ? [] : [JSON.stringify(rows.map(render)).slice(1, -1)]);
    return await sendTexts(request, reply, () => arrayTexts(list.readBatch, renderBatch, list.batchSize));
  }
  const { count, results } = await list.readPage(offsetOf(wanted), wanted.pageSize);
  return sendJsonBytes(reply, JSON.stringify(pageBody(request, wanted, { count, results: results.map(render) })));
}

/** The same of entries that may be so large that a page of them is streamed too. The rows are what they are found by. */
export async function sendLongListInParts<Row extends { id: string }>(
  request: ListRequest,
  reply: FastifyReply,
  list: LongList<Row>,
  renderBatch: RenderBatch<Row>,
): Promise<never> {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return await sendTexts(request, reply, () => arrayTexts(list.readBatch, renderBatch));
  }
  const { count, results } = await list.readPage(offsetOf(wanted), wanted.pageSize);
  const frame = pageFrame(request, wanted, count);
  return await sendTexts(request, reply, () => framed(frame, renderBatch(results)));
}

async function* framed({ opening, closing }: PageFrame, texts: ReturnType<RenderBatch<never>>): AsyncGenerator<string> {
  let before = opening;
  for await (const text of texts) {
    yield before + text;
    before = ',';
  }
  yield before === opening ? opening + closing : closing;
}

async function sendTexts(
  request: FastifyRequest,
  reply: FastifyReply,
  makeTexts: () => AsyncGenerator<string>,
): Promise<never> {
  await request.server.slowReaders.enter(request, reply);
  return sendJsonBytes(reply, await streamTexts(makeTexts()));
}

/** Sends JSON that is text already, past the serialiser. The type `never` says to the compiler that nothing is left to send. */
export function sendJsonBytes(reply: FastifyReply, json: string | Buffer | Readable): never {
  return reply.type('application/json; charset=utf-8').send(json) as never;
}

/**
 * Answers a JSON text that may be long, as fast as its reader takes it.
 * @param makePieces called when the reader may have one more
 * @throws ApiError 429 `rate_limited` while too many others wait for the same reader
 */
export async function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  makePieces: () => Promise<Buffer[]>,
): Promise<never> {
  await request.server.slowReaders.enter(request, reply);
  const pieces = await makePieces();
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return sendJsonBytes(reply.header('content-length', length), Readable.from(pieces, { objectMode: false }));
}

/** Answers a page whose entries are JSON already, with commas between. They may be many, so they are not copied. */
export function sendPageBytes(reply: FastifyReply, { opening, closing }: PageFrame, entries: Buffer): never {
  const parts = [Buffer.from(opening), entries, Buffer.from(closing)];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return sendJsonBytes(reply.header('content-length', length), Readable.from(parts));
}

/** Answers a list that is at hand whole: the array, or one page of it. */
export function shortList<T>(request: ListRequest, all: T[]) {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return all;
  }
  const offset = offsetOf(wanted);
  const results = all.slice(offset, offset + wanted.pageSize);
  return pageBody(request, wanted, { count: all.length, results });
}
