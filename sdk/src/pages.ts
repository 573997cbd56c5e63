import { RoomserviceError } from './errors.ts';

/** Options for reading a list. `page_size` is the number of entries that each request reads, at most 200. Default: 200. */
export interface ListQuery {
  page_size?: number | undefined;
}

const LARGEST_PAGE = 200;

/**
 * Type of one entry of a list, taken from the type of the response. The response is an array of entries, or an object for one page that
 * holds such an array.
 */
export type EntryOf<Answer> = Extract<Answer, readonly unknown[]>[number];

/**
 * Yields every entry of a list, newest first. Reads the next page only when the caller asks for an entry of that page. If a new entry is
 * created between two reads, it moves older entries to the next page. This function would then read them again, so it skips entries that it
 * has already yielded.
 * @throws RoomserviceError `unexpected_answer` if a response is not a page
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
        'The response is not a page of the list. Check baseUrl and every proxy in front of the service.',
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
    // `next` is a link that begins with the address in the settings of the service, which may differ from the baseUrl of this client. So
    // the client does not follow the link, but requests the next page from its baseUrl.
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
