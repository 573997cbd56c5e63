import { infiniteQueryOptions, keepPreviousData, queryOptions, skipToken } from '@tanstack/react-query';
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

/** Options of a query that reads an operation, and reads it again when a hint names one of the topics. Without an input it rests. */
export function read<Name extends OperationName>(
  name: Name,
  input: Input<Name> | undefined | false | '',
  topics: Topic[],
) {
  return queryOptions({
    queryKey: [name, input as Input<Name>] as const,
    queryFn: input ? ({ signal }) => call(name, input, { signal }) : skipToken,
    meta: { topics },
    refetchInterval: REREAD_MS,
  });
}

/** Operations that answer `{results, next}`. */
export type ListName = {
  [Name in OperationName]: Answer<Name> extends { results: unknown[]; next: string | null } ? Name : never;
}[OperationName];

/** Options of a query that reads the rows of a long list page by page, with the filters of `query`. */
export function readList<Name extends ListName>(name: Name, query: Record<string, unknown>, topics: Topic[]) {
  return infiniteQueryOptions({
    queryKey: [name, query] as const,
    queryFn: ({ pageParam, signal }) => readPage(name, query, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<Name>) => page.next,
    select: ({ pages }) => pages.flatMap(({ results }) => results),
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

type Filters = Record<string, string>;

/** A list of the API in which a text is searched. */
interface Finding<Name extends ListName> {
  list: Name;
  topics: Topic[];
  /** Filters that the text may be meant for. */
  filtersOf: (text: string) => Filters[];
  idOf: (row: Entry<Name>) => string;
}

/** Options of a query for what a guest or a partner has said, the newest rows first. Without a text it rests. */
export function find<Name extends ListName>(
  { list, topics, filtersOf, idOf }: Finding<Name>,
  text: string | undefined,
) {
  return queryOptions({
    queryKey: [list, { text: text ?? null }] as const,
    queryFn: async ({ signal }) => {
      const found = await readMerged(list, filtersOf(text ?? ''), idOf, 1, signal);
      const placedAt = (row: Entry<Name>) => Date.parse((row as { created_at: string }).created_at);
      return { results: found.sort((one, other) => placedAt(other) - placedAt(one)), next: null };
    },
    select: ({ results }) => results,
    enabled: text !== undefined,
    placeholderData: keepPreviousData,
    meta: { topics },
    refetchInterval: REREAD_MS,
  });
}

/** Reads a list by several filters side by side, and names each row once. */
export async function readMerged<Name extends ListName>(
  list: Name,
  filters: Filters[],
  idOf: (row: Entry<Name>) => string,
  mostPages: number,
  signal: AbortSignal,
): Promise<Entry<Name>[]> {
  const lists = await Promise.all(filters.map((filter) => readPages(list, filter, mostPages, signal)));
  return [...new Map(lists.flat().map((row) => [idOf(row), row])).values()];
}

const PHONE = /^[+(]?\d[\d\s()./-]{4,29}$/;

/** Filters for a guest who says a phone number, or how the name begins. */
export function guestFilters(text: string): Filters[] {
  if (PHONE.test(text)) return [{ phone: text.replace(/^00/, '') }];
  return /\p{L}/u.test(text) && text.length > 1 ? [{ name: text.slice(0, 100) }] : [];
}

/** True if a text is a part of a guest's name or telephone number. The API knows only how a name begins, and whole numbers. */
export function isMeant(text: string, name: string | null, phone: string | null): boolean {
  const plain = (words: string) => words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  if (/\p{L}/u.test(text)) return plain(name ?? '').includes(plain(text));
  const digits = text.replace(/\D/g, '').replace(/^00/, '');
  return digits.length > 2 && (phone ?? '').replace(/\D/g, '').includes(digits);
}
