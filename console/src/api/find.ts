import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type Entry, type ListName, readPages, REREAD_MS, type Topic } from './reads.ts';

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
