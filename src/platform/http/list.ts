import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { WholeList } from '../db/whole-list.ts';
import { offsetOf, type PageFrame, type PageQuery, pageBody, requestedPage } from './paging.ts';
import { arrayTexts, slicesOf, streamTexts } from './streaming.ts';

type ListRequest = FastifyRequest<{ Querystring: PageQuery }>;

/** Streams a list of any length, or sends one page if the query asks for a page (rule 10). */
export async function sendLongList<Row extends { id: string }>(
  request: ListRequest,
  reply: FastifyReply,
  list: WholeList<Row>,
  render: (row: Row) => unknown,
): Promise<never> {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return await sendTexts(request, reply, () => arrayTexts(list.readBatch, render));
  }
  const { count, results } = await list.readPage(offsetOf(wanted), wanted.pageSize);
  return sendJsonBytes(reply, JSON.stringify(pageBody(request, wanted, { count, results: results.map(render) })));
}

/** Sends JSON in parts, as fast as the caller reads it. For HEAD, makes only the first part, so that the status is that of GET. */
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
    const minutes = LONGEST_STREAM_MS / 60_000;
    request.log.info(`list response cut off: the client did not read the whole response in ${minutes} min`);
    request.raw.socket.destroy();
  };
  const timer = setTimeout(cut, LONGEST_STREAM_MS).unref();
  reply.raw.once('close', () => clearTimeout(timer));
}

/** The return type `never` tells the compiler that the route returns no other value. */
export function sendJsonBytes(reply: FastifyReply, json: string | Buffer | Readable): never {
  if (json instanceof Readable) {
    // Fastify does not end the response of a client that has left, so the door would keep its place.
    json.once('close', () => reply.request.place?.leave());
  }
  return reply.type('application/json; charset=utf-8').send(json) as never;
}

/** Excel reads a CSV file as UTF-8 only if the file begins with this character. */
const BYTE_ORDER_MARK = '\uFEFF';

/** Sends CSV text as a file that a browser saves. @param filename name of the file, of letters, digits, hyphens and dots */
export function sendCsv(reply: FastifyReply, filename: string, csv: string): never {
  reply.header('content-disposition', `attachment; filename="${filename}"`);
  return reply.type('text/csv; charset=utf-8').send(Buffer.from(`${BYTE_ORDER_MARK}${csv}`)) as never;
}

const LARGE_BYTES = 1024 * 1024;

/** Sends JSON that is in memory, and large JSON in slices that share its memory, because the connection copies what is sent. */
export function sendLargeJson(reply: FastifyReply, json: Buffer): never {
  if (json.length <= LARGE_BYTES) {
    return sendJsonBytes(reply, json);
  }
  return sendJsonBytes(reply.header('content-length', json.length), Readable.from(slicesOf(json)));
}

/** The text of the entries may be long, so it is sent without being copied. */
export function sendPageBytes(reply: FastifyReply, { opening, closing }: PageFrame, entries: Buffer): never {
  const parts = [Buffer.from(opening), entries, Buffer.from(closing)];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return sendJsonBytes(reply.header('content-length', length), Readable.from(parts));
}

export function shortList<T>(request: ListRequest, all: T[]) {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return all;
  }
  const offset = offsetOf(wanted);
  const results = all.slice(offset, offset + wanted.pageSize);
  return pageBody(request, wanted, { count: all.length, results });
}
