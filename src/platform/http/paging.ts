import Type from 'typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { splitTarget } from './request-target.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The base of links in answers; null: what each request came to. */
    publicUrl: string | null;
  }
}

const MAX_INTEGER = 2_147_483_647;
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;

/** The query of every list: without either parameter the answer is the plain array (decision 10). */
export const PageQuery = Type.Object({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_INTEGER,
      description: 'Which page is wanted. Without `page` and `page_size` the whole list is answered, as an array.',
      examples: [1],
    }),
  ),
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      description: `Entries of a page: ${DEFAULT_PAGE_SIZE} where only \`page\` is sent, at most ${MAX_PAGE_SIZE}.`,
      examples: [DEFAULT_PAGE_SIZE],
    }),
  ),
});
export type PageQuery = Type.Static<typeof PageQuery>;

export interface PageRequest {
  page: number;
  pageSize: number;
}

export interface Page<T> {
  count: number;
  next: string | null;
  previous: string | null;
  results: T[];
}

/** The page a caller asked for; null where the plain array is wanted. */
export function requestedPage(query: PageQuery): PageRequest | null {
  if (query.page === undefined && query.page_size === undefined) {
    return null;
  }
  return { page: query.page ?? 1, pageSize: query.page_size ?? DEFAULT_PAGE_SIZE };
}

/** Rows to pass over before the page begins. */
export function offsetOf({ page, pageSize }: PageRequest): number {
  return (page - 1) * pageSize;
}

/**
 * The body of one page.
 * @throws ApiError 404 for a page past the end; page 1 of an empty list is fine (decision 10)
 */
export function pageBody<T>(
  request: FastifyRequest,
  wanted: PageRequest,
  found: { count: number; results: T[] },
): Page<T> {
  const lastPage = Math.max(1, Math.ceil(found.count / wanted.pageSize));
  if (wanted.page > lastPage) {
    throw new ApiError(404, 'error', `There is no page ${wanted.page}: the last one is ${lastPage}.`);
  }
  const link = (page: number) => pageLink(request, { ...wanted, page });
  return {
    count: found.count,
    next: wanted.page < lastPage ? link(wanted.page + 1) : null,
    previous: wanted.page > 1 ? link(wanted.page - 1) : null,
    results: found.results,
  };
}

/** A page as text, but for its entries: what stands before them, and behind. */
export interface PageFrame {
  opening: string;
  closing: string;
}

/** @throws ApiError 404 for a page past the end */
export function pageFrame(request: FastifyRequest, wanted: PageRequest, count: number): PageFrame {
  const text = JSON.stringify(pageBody(request, wanted, { count, results: [] }));
  const closing = ']}'; // The entries come last.
  return { opening: text.slice(0, -closing.length), closing };
}

function pageLink(request: FastifyRequest, { page, pageSize }: PageRequest): string {
  // A request of HTTP/1.0 may name no host.
  const origin = request.host === '' ? request.server.listeningOrigin : `${request.protocol}://${request.host}`;
  const base = request.server.publicUrl ?? origin;
  const [path, query] = splitTarget(request.url);
  const parameters = new URLSearchParams(query);
  parameters.set('page', String(page));
  parameters.set('page_size', String(pageSize));
  return `${base}${path}?${parameters}`;
}

/** The schema of a page, for the generated documents. It takes title and example from its entries'. */
export function pageOf<T extends Type.TSchema & { title?: string; examples?: unknown }>(entry: T) {
  return Type.Object(
    {
      count: Type.Integer({ description: 'Entries of the whole list.' }),
      next: Type.Union([Type.String(), Type.Null()], { description: 'URL of the next page; null on the last.' }),
      previous: Type.Union([Type.String(), Type.Null()], { description: 'URL of the page before; null on the first.' }),
      results: Type.Array(entry, { description: 'The entries of this page.' }),
    },
    { description: 'One page of the list.', ...titleOf(entry), ...exampleOf(entry) },
  );
}

function titleOf({ title }: { title?: string }) {
  return title === undefined ? {} : { title: `${title}Page` };
}

function exampleOf({ examples }: { examples?: unknown }) {
  return Array.isArray(examples)
    ? { examples: [{ count: examples.length, next: null, previous: null, results: examples }] }
    : {};
}
