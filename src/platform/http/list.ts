import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { KeysetList } from '../db/keyset-list.ts';
import { offsetOf, type PageFrame, type PageQuery, pageBody, pageFrame, requestedPage } from './paging.ts';
import { arrayTexts, type RenderBatch, slicesOf, streamTexts } from './streaming.ts';

export interface LongList<Row> extends KeysetList<Row> {
  /**
   * Maximum number of rows that the service reads from the database at a time. A list with large rows sets a low number. If the field is
   * missing, the service reads at most 500 rows (`arrayTexts`).
   */
  batchSize?: number;
}

type ListRequest = FastifyRequest<{ Querystring: PageQuery }>;

/**
 * Sends a list that may be of any length. Streams the whole list, or sends one page if the query asks for a page (decision 10).
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

/**
 * Sends a list that may be of any length and whose entries may be large. A response with only one page is streamed too, because its entries
 * may be large.
 * @param renderBatch renders the entries as JSON. First reads the data that the rows lack, for example the items of an order
 */
export async function sendLongListInParts<Row extends { id: string }>(
  request: ListRequest,
  reply: FastifyReply,
  list: LongList<Row>,
  renderBatch: RenderBatch<Row>,
): Promise<never> {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return await sendTexts(request, reply, () => arrayTexts(list.readBatch, renderBatch, list.batchSize));
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

/**
 * Sends JSON in parts, as fast as the caller reads it. For HEAD, makes only the first part, so that the status is that of GET.
 */
export async function sendTexts(
  request: FastifyRequest,
  reply: FastifyReply,
  makeTexts: () => AsyncGenerator<string>,
): Promise<never> {
  cutWhenTooLong(request, reply);
  const stream = await streamTexts(makeTexts());
  if (request.method === 'HEAD') {
    stream.destroy();
    return sendJsonBytes(reply, Readable.from([]));
  }
  return sendJsonBytes(reply, stream);
}

/** Longest duration of a streamed response in milliseconds. A client that takes nothing for a minute is disconnected before. */
const LONGEST_STREAM_MS = 10 * 60_000;

/** Ends the connection of a streamed response after ten minutes, because the response keeps a place of its tenant. */
function cutWhenTooLong(request: FastifyRequest, reply: FastifyReply): void {
  const cut = () => {
    request.log.info(
      `list response cut off: the client did not read the whole response in ${LONGEST_STREAM_MS / 60_000} min`,
    );
    request.raw.socket.destroy();
  };
  const timer = setTimeout(cut, LONGEST_STREAM_MS).unref();
  reply.raw.once('close', () => clearTimeout(timer));
}

/** Sends a value that is JSON text already. The return type `never` tells the compiler that the route returns no other value. */
export function sendJsonBytes(reply: FastifyReply, json: string | Buffer | Readable): never {
  return reply.type('application/json; charset=utf-8').send(json) as never;
}

/** Excel reads a CSV file as UTF-8 only if the file begins with this character. */
const BYTE_ORDER_MARK = '\uFEFF';

/** Sends CSV text as a file that a browser saves. @param filename name of the file, of letters, digits, hyphens and dots */
export function sendCsv(reply: FastifyReply, filename: string, csv: string): never {
  reply.header('content-disposition', `attachment; filename="${filename}"`);
  return reply.type('text/csv; charset=utf-8').send(Buffer.from(`${BYTE_ORDER_MARK}${csv}`)) as never;
}

/** Size in bytes above which JSON that is in memory is sent in slices. */
const LARGE_BYTES = 1024 * 1024;

/**
 * Sends JSON that is in memory. If it is large, it is sent in slices, as fast as the caller reads it, because the connection copies what is
 * sent. The slices share the memory of `json`.
 */
export function sendLargeJson(reply: FastifyReply, json: Buffer): never {
  if (json.length <= LARGE_BYTES) {
    return sendJsonBytes(reply, json);
  }
  return sendJsonBytes(reply.header('content-length', json.length), Readable.from(slicesOf(json)));
}

/** Sends a page whose entries are already JSON text, separated by commas. The text may be long, so it is sent without being copied. */
export function sendPageBytes(reply: FastifyReply, { opening, closing }: PageFrame, entries: Buffer): never {
  const parts = [Buffer.from(opening), entries, Buffer.from(closing)];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return sendJsonBytes(reply.header('content-length', length), Readable.from(parts));
}

/**
 * Returns the response body of a list whose entries are all in memory. It is the array of all entries, or one page if the query asks for a
 * page.
 */
export function shortList<T>(request: ListRequest, all: T[]) {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return all;
  }
  const offset = offsetOf(wanted);
  const results = all.slice(offset, offset + wanted.pageSize);
  return pageBody(request, wanted, { count: all.length, results });
}
