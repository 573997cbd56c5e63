import { createHash, type Hash, hash } from 'node:crypto';

const LINE_FEED = 10;
const SUM_BYTES = 6;
const SUM_LIMIT = 2 ** (8 * SUM_BYTES);

/** Number of rows of a table, and the sum of the hashes of its rows, which a database returns in any order. */
interface TableDigest {
  rows: number;
  sum: string;
}

export type Digests = Record<string, TableDigest>;

export class RowDigest {
  rows = 0;
  #sum = 0;
  #unfinished: Hash | null = null;

  add(text: Buffer): void {
    let start = 0;
    for (let end = text.indexOf(LINE_FEED); end !== -1; end = text.indexOf(LINE_FEED, start)) {
      const part = text.subarray(start, end);
      const row = this.#unfinished?.update(part).digest() ?? hash('sha256', part, 'buffer');
      this.#unfinished = null;
      this.#sum = (this.#sum + row.readUIntLE(0, SUM_BYTES)) % SUM_LIMIT;
      this.rows += 1;
      start = end + 1;
    }
    if (start < text.length) {
      this.#unfinished ??= createHash('sha256');
      this.#unfinished.update(text.subarray(start));
    }
  }

  end(): TableDigest {
    if (this.#unfinished !== null) {
      throw new Error('The rows of a table end in the middle of a row. Run the command again.');
    }
    return { rows: this.rows, sum: this.#sum.toString(16) };
  }
}

export function findDifference(found: Digests, expected: Digests): string | null {
  const names = new Set([...Object.keys(found), ...Object.keys(expected)]);
  const differs = (name: string) =>
    found[name]?.rows !== expected[name]?.rows || found[name]?.sum !== expected[name]?.sum;
  return [...names].find(differs) ?? null;
}
