/** Copies all rows between databases and backup files, and compares them. */
import { createHash, type Hash, hash } from 'node:crypto';
import type { Contents, TableShape } from './contents.ts';

export type Progress = (message: string) => void;

export interface CopySource {
  contents: Contents;
  /** Streams the rows of a table in the text format of COPY. Called once for each table, in the order of `contents.tables`. */
  read: (table: TableShape) => AsyncIterable<Buffer>;
  /** Called with the digests of all rows that `read` has returned. @throws OperatorError if other rows were expected */
  check?: (digests: Digests) => Promise<void>;
  /** Returns the error to throw if a target has refused the rows. */
  explain?: (error: unknown) => unknown;
}

export interface CopiedTable extends TableShape {
  rows: AsyncIterable<Buffer>;
}

export interface CopyTarget {
  /** Takes all tables, or keeps nothing if this fails. The `digests` are complete only after the last table. */
  load(contents: Contents, tables: AsyncIterable<CopiedTable>, digests: Digests, progress: Progress): Promise<void>;
}

const PROGRESS_MS = 5_000;

/** Copies all rows, one table after the other, with only some pieces of them in memory. Returns the digests of all tables. */
export async function copyDatabase(from: CopySource, to: CopyTarget, progress: Progress): Promise<Digests> {
  const digests: Digests = {};
  try {
    await to.load(from.contents, digestedTables(from, digests, progress), digests, progress);
    return digests;
  } catch (error) {
    throw from.explain?.(error) ?? error;
  }
}

async function* digestedTables(from: CopySource, digests: Digests, progress: Progress): AsyncGenerator<CopiedTable> {
  for (const table of from.contents.tables) {
    const digest = new RowDigest();
    const report = () => progress(`${table.name}: ${digest.rows} rows`);
    yield { ...table, rows: digested(from.read(table), digest, report) };
    digests[table.name] = digest.end();
    report();
  }
  await from.check?.(digests);
}

async function* digested(rows: AsyncIterable<Buffer>, digest: RowDigest, report: () => void): AsyncGenerator<Buffer> {
  let reportedMs = performance.now();
  for await (const text of rows) {
    digest.add(text);
    if (performance.now() > reportedMs + PROGRESS_MS) {
      reportedMs = performance.now();
      report();
    }
    yield text;
  }
}

export function countsOf(digests: Digests): Record<string, number> {
  return Object.fromEntries(Object.entries(digests).map(([name, { rows }]) => [name, rows]));
}

export function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

export function describeRows(counts: Record<string, number>): string {
  const of = (table: string) => counts[table] ?? 0;
  return `rows: ${sumOf(counts)}, tenants: ${of('tenant')}, orders: ${of('restaurant_order')}, reservations: ${of('reservation')}`;
}

const LINE_FEED = 10;
const SUM_BYTES = 6;
const SUM_LIMIT = 2 ** (8 * SUM_BYTES);

/** Number of rows of a table, and the sum of the hashes of its rows, which a database returns in any order. */
export interface TableDigest {
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
