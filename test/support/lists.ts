import assert from 'node:assert/strict';
import type { Answer, CallOptions } from './http.ts';

interface Caller {
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
}

/** Reads a long list of the staff API to its end, by calls for `limit` entries. */
export async function entriesOf(
  node: Caller,
  path: string,
  headers: Record<string, string>,
  limit = 100,
): Promise<Answer['body']> {
  const entries: Answer['body'] = [];
  for (let after: string | null = ''; after !== null; ) {
    const url = new URL(path, 'http://list.example');
    url.searchParams.set('limit', String(limit));
    if (after !== '') {
      url.searchParams.set('after', after);
    }
    const { status, text, body }: Answer = await node.call('GET', url.pathname + url.search, { headers });
    assert.equal(status, 200, text);
    assert.deepEqual(Object.keys(body), ['results', 'next']);
    entries.push(...body.results);
    after = body.next;
  }
  return entries;
}
