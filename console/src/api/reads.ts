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
    queryFn: ({ pageParam, signal }) => readPage(name, query, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<Name>) => page.next,
    meta: { topics },
    refetchInterval: REREAD_MS,
  });
}

/** Reads the first pages of a list at once, for screens that need all of it. */
export async function readPages<Name extends ListName>(
  name: Name,
  filters: Record<string, unknown>,
  mostPages: number,
  signal: AbortSignal,
): Promise<Entry<Name>[]> {
  const rows: Entry<Name>[] = [];
  let after: string | null = null;
  for (let count = 0; count < mostPages; count += 1) {
    const page: Page<Name> = await readPage(name, { ...filters, limit: 100 }, after, signal);
    rows.push(...page.results);
    after = page.next;
    if (after === null) break;
  }
  return rows;
}

async function readPage<Name extends ListName>(
  name: Name,
  filters: Record<string, unknown>,
  after: string | null,
  signal: AbortSignal,
): Promise<Page<Name>> {
  const query = { ...filters, after: after ?? undefined };
  return (await call(name, { query } as unknown as Input<Name>, { signal })) as Page<Name>;
}

export type Entry<Name extends ListName> = Answer<Name> extends { results: (infer Item)[] } ? Item : never;
export interface Page<Name extends ListName> {
  results: Entry<Name>[];
  next: string | null;
}
