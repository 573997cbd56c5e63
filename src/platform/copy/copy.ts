/** Copies all rows between databases and backup files, and compares them. */
import type { Contents, TableShape } from './contents.ts';
import { type Digests, RowDigest } from './digest.ts';

export type Progress = (message: string) => void;

export interface CopySource {
  contents: Contents;
  /** Streams the rows of a table in the text format of COPY. Called once for each table, in the order of `contents.tables`. */
  read: (table: TableShape) => AsyncIterable<Buffer>;
  /** Called with the digests of all rows that `read` has returned. @throws OperatorError if other rows were expected */
  check?: (digests: Digests) => Promise<void>;
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
  await to.load(from.contents, digestedTables(from, digests, progress), digests, progress);
  return digests;
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

export function describeRows(counts: Record<string, number>): string {
  const sum = Object.values(counts).reduce((total, count) => total + count, 0);
  const of = (table: string) => counts[table] ?? 0;
  return `rows: ${sum}, tenants: ${of('tenant')}, orders: ${of('restaurant_order')}, reservations: ${of('reservation')}`;
}
