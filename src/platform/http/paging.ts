import Type from 'typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { splitTarget } from './raw-requests.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Beginning of the links in responses. If null, a link begins with the protocol and host of its request. */
    publicUrl: string | null;
  }
}

const MAX_INTEGER = 2_147_483_647;
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;

/** Query parameters of every list. A call without `page` and `page_size` gets all entries as a plain array (rule 10). */
export const PageQuery = Type.Object({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_INTEGER,
      description: 'Number of the page. Without `page` and `page_size`, the response is the whole list as an array.',
      examples: [1],
    }),
  ),
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      description: `Number of entries on a page: ${DEFAULT_PAGE_SIZE} if only \`page\` is sent, at most ${MAX_PAGE_SIZE}.`,
      examples: [DEFAULT_PAGE_SIZE],
    }),
  ),
});
export type PageQuery = Type.Static<typeof PageQuery>;

type PageRequest = NonNullable<ReturnType<typeof requestedPage>>;

export function requestedPage(query: PageQuery) {
  if (query.page === undefined && query.page_size === undefined) {
    return null;
  }
  return { page: query.page ?? 1, pageSize: query.page_size ?? DEFAULT_PAGE_SIZE };
}

export function offsetOf({ page, pageSize }: PageRequest): number {
  return (page - 1) * pageSize;
}

/** Returns the body of one page. @throws ApiError 404 after the last page. Page 1 of an empty list exists (rule 10). */
export function pageBody<T>(request: FastifyRequest, wanted: PageRequest, found: { count: number; results: T[] }) {
  const lastPage = Math.max(1, Math.ceil(found.count / wanted.pageSize));
  if (wanted.page > lastPage) {
    throw new ApiError(404, 'error', `There is no page ${wanted.page}. The last page is ${lastPage}.`);
  }
  const link = (page: number) => pageLink(request, { ...wanted, page });
  return {
    count: found.count,
    next: wanted.page < lastPage ? link(wanted.page + 1) : null,
    previous: wanted.page > 1 ? link(wanted.page - 1) : null,
    results: found.results,
  };
}

export type PageFrame = ReturnType<typeof pageFrame>;

/** Returns a page without its entries. @throws ApiError 404 if the page is after the last page */
export function pageFrame(request: FastifyRequest, wanted: PageRequest, count: number) {
  const text = JSON.stringify(pageBody(request, wanted, { count, results: [] }));
  const closing = ']}';
  return { opening: text.slice(0, -closing.length), closing };
}

function pageLink(request: FastifyRequest, { page, pageSize }: PageRequest): string {
  // Without a Host header (HTTP/1.0) or with an empty one, the link begins with the address on which the service listens.
  const origin = request.host === '' ? request.server.listeningOrigin : `${request.protocol}://${request.host}`;
  const base = request.server.publicUrl ?? origin;
  const [path, query] = splitTarget(request.url);
  const parameters = new URLSearchParams(query);
  parameters.set('page', String(page));
  parameters.set('page_size', String(pageSize));
  return `${base}${path}?${parameters}`;
}

interface Example {
  title?: string;
  examples?: unknown;
}

export function pageOf<T extends Type.TSchema & Example>(entry: T) {
  return Type.Object(
    {
      count: Type.Integer({ description: 'Number of entries in the whole list.' }),
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'URL of the next page, or null on the last page.',
      }),
      previous: Type.Union([Type.String(), Type.Null()], {
        description: 'URL of the previous page, or null on the first page.',
      }),
      results: Type.Array(entry, { description: 'The entries of this page.' }),
    },
    {
      description: 'One page of the list.',
      ...pageExample(entry, (results) => ({ count: results.length, next: null, previous: null, results })),
    },
  );
}

export function pageExample({ title, examples }: Example, pageWith: (results: unknown[]) => object) {
  return {
    ...(title !== undefined && { title: `${title}Page` }),
    ...(Array.isArray(examples) && { examples: [pageWith(examples)] }),
  };
}
