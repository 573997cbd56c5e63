import { number, renderColumns } from './table.ts';

/** Numbers of processes for which the table has a column. */
export const PROCESS_COUNTS = [10, 100, 1_000];

/** Row of the table that shows how much of PostgreSQL the regular statements of many idle processes use. */
export interface ProcessRow {
  work: string;
  /** CPU time of PostgreSQL for one statement, in microseconds. Undefined in a row of a total. */
  costUs?: number;
  /** Returns the number of cores that PostgreSQL uses for this work of all processes. */
  coresAt: (processes: number) => number;
  /** Largest number of cores for the largest number of processes that reaches the goal. */
  mostCores?: number;
}

/** Returns the rows as a Markdown table. */
export function renderProcessTable(rows: ProcessRow[]): string {
  const headings = [
    'regular work',
    'PostgreSQL µs each',
    ...PROCESS_COUNTS.map((count) => `cores at ${count} processes`),
    'goal',
    'reached',
  ];
  const most = PROCESS_COUNTS.at(-1) ?? 0;
  return renderColumns(
    headings,
    rows.map(({ work, costUs, coresAt, mostCores }) => [
      work,
      number(costUs, 0),
      ...PROCESS_COUNTS.map((count) => number(coresAt(count), 3)),
      mostCores === undefined ? '' : `below ${mostCores} core`,
      mostCores === undefined ? '' : coresAt(most) < mostCores ? 'yes' : 'no',
    ]),
  );
}
