import type { InfiniteData } from '@tanstack/react-query';
import { queryClient } from './query-client.ts';
import type { Entry, ListName, Page } from './reads.ts';

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
