import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import {
  offsetOf,
  type Page,
  type PageFrame,
  type PageQuery,
  type PageRequest,
  pageBody,
  requestedPage,
} from './paging.ts';
import { type ReadBatch, streamArray } from './streaming.ts';

export interface LongList<Row> {
  readBatch: ReadBatch<Row>;
  /** Rows held in memory at a time, where they are large. */
  batchSize?: number;
  readPage(offset: number, limit: number): Promise<{ count: number; results: Row[] }>;
}

/** Answers a list that has no upper bound: streamed whole, or one page of it where the caller asks for one (decision 10). */
export async function sendLongList<Row extends { id: string }>(
  request: FastifyRequest<{ Querystring: PageQuery }>,
  reply: FastifyReply,
  publicUrl: string | null,
  list: LongList<Row>,
  render: (row: Row) => unknown,
): Promise<never> {
  const wanted = requestedPage(request.query);
  if (wanted === null) {
    return sendJsonBytes(reply, await streamArray(list.readBatch, render, list.batchSize));
  }
  const { count, results } = await list.readPage(offsetOf(wanted), wanted.pageSize);
  return sendJsonBytes(
    reply,
    JSON.stringify(pageBody(request, publicUrl, wanted, { count, results: results.map(render) })),
  );
}

/** Sends JSON that is text already, past the serialiser. The type `never` says to the compiler that nothing is left to send. */
export function sendJsonBytes(reply: FastifyReply, json: string | Buffer | Readable): never {
  return reply.type('application/json; charset=utf-8').send(json) as never;
}

/** Answers a page whose entries are JSON already, with commas between. They may be many, so they are not copied. */
export function sendPageBytes(reply: FastifyReply, { head, tail }: PageFrame, entries: Buffer): never {
  const parts = [Buffer.from(head), entries, Buffer.from(tail)];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return sendJsonBytes(reply.header('content-length', length), Readable.from(parts));
}

/** Answers a list that is at hand whole: the array, or one page of it. */
export function shortList<T>(request: FastifyRequest<{ Querystring: PageQuery }>, publicUrl: string | null, all: T[]) {
  const wanted = requestedPage(request.query);
  return wanted === null ? all : shortPage(request, publicUrl, wanted, all);
}

/** One page of a list that is at hand. */
export function shortPage<T>(
  request: FastifyRequest,
  publicUrl: string | null,
  wanted: PageRequest,
  all: Pick<T[], 'length' | 'slice'>,
): Page<T> {
  const offset = offsetOf(wanted);
  const results = all.slice(offset, offset + wanted.pageSize);
  return pageBody(request, publicUrl, wanted, { count: all.length, results });
}
