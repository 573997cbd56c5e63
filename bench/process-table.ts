import { number, renderColumns } from './table.ts';

/** Numbers of processes for which the table has a column. */
const PROCESS_COUNTS = [10, 100, 1_000];

/**
 * Row of the table of idle processes. An idle process of the service still sends statements to PostgreSQL regularly. The table shows how
 * many CPU cores PostgreSQL uses for these statements.
 */
export interface ProcessRow {
  work: string;
  /** CPU time of PostgreSQL for one statement, in microseconds. Undefined if the row is a total of other rows. */
  costUs?: number;
  /** Returns the number of CPU cores that PostgreSQL uses for the statements of this row if this number of idle processes send them. */
  coresAt: (processes: number) => number;
  /** Goal at the largest number of processes. PostgreSQL must use fewer CPU cores than `mostCores`. Undefined if the row has no goal. */
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
