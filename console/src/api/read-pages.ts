import { call, type Input } from './client.ts';
import type { Entry, ListName } from './reads.ts';

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
    const query = { ...filters, limit: 100, ...(after === null ? {} : { after }) };
    const page = (await call(name, { query } as unknown as Input<Name>, { signal })) as {
      results: Entry<Name>[];
      next: string | null;
    };
    rows.push(...page.results);
    after = page.next;
    if (after === null) break;
  }
  return rows;
}
