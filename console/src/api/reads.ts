import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Answer, call, type Input, type OperationName } from './client.ts';

/** What a hint of the stream of live changes names (`GET /v1/staff/changes/`). */
export type Topic =
  | 'orders'
  | 'reservations'
  | 'events'
  | 'menu'
  | 'rooms'
  | 'rates'
  | 'credentials'
  | 'people'
  | 'pause';

/** Whatever is in sight is read again after this time, also if no hint has named it. */
export const REREAD_MS = 60_000;
/** No hint tells the outcome of a delivery or a refused call. What shows them is read again after this time while more may come. */
export const SOON_MS = 3_000;

/** Options of a query that reads an operation, and reads it again when a hint names one of the topics. */
export function read<Name extends OperationName>(name: Name, input: Input<Name>, topics: Topic[]) {
  return queryOptions({
    queryKey: [name, input] as const,
    queryFn: ({ signal }) => call(name, input, { signal }),
    meta: { topics },
    refetchInterval: REREAD_MS,
  });
}

/** Operations that answer `{results, next}`. */
export type ListName = {
  [Name in OperationName]: Answer<Name> extends { results: unknown[]; next: string | null } ? Name : never;
}[OperationName];

/** Options of a query that reads a long list page by page, with the filters of `query`. */
export function readList<Name extends ListName>(name: Name, query: Record<string, unknown>, topics: Topic[]) {
  return infiniteQueryOptions({
    queryKey: [name, query] as const,
    queryFn: async ({ pageParam, signal }) => {
      const input = { query: { ...query, ...(pageParam === null ? {} : { after: pageParam }) } };
      return (await call(name, input as unknown as Input<Name>, { signal })) as Page<Name>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<Name>) => page.next,
    meta: { topics },
    refetchInterval: REREAD_MS,
  });
}

export type Entry<Name extends ListName> = Answer<Name> extends { results: (infer Item)[] } ? Item : never;
interface Page<Name extends ListName> {
  results: Entry<Name>[];
  next: string | null;
}
