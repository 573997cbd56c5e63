import { RoomserviceError } from './errors.ts';

/** How a list is read: `page_size` entries with each request, 200 where left out, which is also the most. */
export interface ListQuery {
  page_size?: number | undefined;
}

const LARGEST_PAGE = 200;

/** The entry type of a list, which answers as a plain array or as a page. */
export type EntryOf<Answer> = Extract<Answer, readonly unknown[]>[number];

/**
 * Every entry of a list, newest first, read page by page as they are asked for. Where something is created meanwhile,
 * the entries behind it move on, some to the page that is read next: no entry is given twice.
 */
export async function* entriesOf<Entry>(
  readPage: (query: { page: number; page_size: number }) => Promise<readonly Entry[] | PageOf<Entry>>,
  { page_size = LARGEST_PAGE }: ListQuery,
  idOf: (entry: Entry) => string,
): AsyncGenerator<Entry, void, undefined> {
  const given = new Set<string>();
  for (let page = 1; ; page += 1) {
    const answer = await readPage({ page, page_size });
    if (!isPage(answer)) {
      throw new RoomserviceError(
        'A page was asked for, and the answer is none. Check baseUrl, and what stands in between.',
        {
          code: 'unexpected_answer',
          status: 200,
          attempts: 1,
        },
      );
    }
    for (const entry of answer.results) {
      if (given.has(idOf(entry))) continue;
      given.add(idOf(entry));
      yield entry;
    }
    // `next` is a link by the service's own idea of its address; the client stays with the address it was given.
    if (answer.next === null) return;
  }
}

interface PageOf<Entry> {
  next: string | null;
  results: Entry[];
}

function isPage<Entry>(answer: readonly Entry[] | PageOf<Entry>): answer is PageOf<Entry> {
  return 'results' in answer && Array.isArray(answer.results);
}
