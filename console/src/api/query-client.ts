import { type InfiniteData, type Query, QueryClient } from '@tanstack/react-query';
import { Refused, Unreachable, waitMs } from './client.ts';
import type { Entry, ListName, Page, Topic } from './reads.ts';

/** What was read stays on the screen while it is read again. A lost connection is tried again until it is back. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: 'always',
      retry: (count, error) => error instanceof Unreachable || (isTemporary(error) && count < 5),
      retryDelay: (count, error) => waitMs(count, 10_000, error),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

function isTemporary(error: unknown): boolean {
  return error instanceof Refused && (error.status === 429 || error.status === 503);
}

/** Reads again what is in sight and belongs to one of the topics (null: everything). */
export function rereadTopics(topics: ReadonlySet<Topic> | null): void {
  const belongs = ({ meta }: Query) =>
    topics === null || (meta?.['topics'] as Topic[] | undefined)?.some((each) => topics.has(each)) === true;
  void queryClient.invalidateQueries({ predicate: (query) => belongs(query) && !isGrowing(query) });
  // Reading a list again would cancel the next page that somebody has asked for, so this waits for the page.
  for (const { promise, queryKey } of queryClient.getQueryCache().findAll({ predicate: belongs }).filter(isGrowing)) {
    const reread = () => void queryClient.invalidateQueries({ queryKey, exact: true });
    promise?.then(reread, reread);
  }
}

function isGrowing({ state }: Query): boolean {
  return state.fetchStatus === 'fetching' && state.fetchMeta?.fetchMore !== undefined;
}

/** Puts a row that the service has just answered in place of what the lists on the screen knew of it. */
export async function keepRow<Name extends ListName>(
  list: Name,
  row: Entry<Name>,
  idOf: (row: Entry<Name>) => string,
): Promise<void> {
  // A list that is being read now may still hold the row as it was.
  await queryClient.cancelQueries({ queryKey: [list] });
  const replaced = (page: Page<Name>) => ({
    ...page,
    results: page.results.map((each) => (idOf(each) === idOf(row) ? row : each)),
  });
  queryClient.setQueriesData<Page<Name> | InfiniteData<Page<Name>>>({ queryKey: [list] }, (data) => {
    if (data === undefined) return data;
    return 'pages' in data ? { ...data, pages: data.pages.map(replaced) } : replaced(data);
  });
  void queryClient.invalidateQueries({ queryKey: [list] });
}
