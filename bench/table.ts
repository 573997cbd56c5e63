/**
 * Row of the results table: the measured values of one operation, its goal and a note. A value is undefined if it does not apply to the
 * operation.
 */
export interface Row {
  operation: string;
  perSecond?: number;
  p50Ms?: number;
  p99Ms?: number;
  floorPerSecond?: number;
  ratio?: number;
  /**
   * Memory of the service after the measurement, in MB. For some operations it is the growth of the memory during the measurement. Then the
   * note of the row says so.
   */
  memoryMb?: number;
  goal?: Goal;
  /** Remark for the reader of the table. */
  note?: string;
}

/** Goal of an operation: a bound for its measured values, and the text of this bound in the table. */
export interface Goal {
  text: string;
  isReached(row: Row): boolean;
}

export const ratioOf = (least: number): Goal => ({
  text: `ratio ≥ ${least}`,
  isReached: ({ ratio = 0 }) => ratio >= least,
});
export const memoryBelow = (mostMb: number): Goal => ({
  text: `memory < ${mostMb} MB`,
  isReached: ({ memoryMb = Infinity }) => memoryMb < mostMb,
});
export const p50Below = (mostMs: number): Goal => ({
  text: `p50 < ${mostMs} ms`,
  isReached: ({ p50Ms = Infinity }) => p50Ms < mostMs,
});
export const p99Within = (mostMs: number): Goal => ({
  text: `p99 ≤ ${mostMs} ms`,
  isReached: ({ p99Ms = Infinity }) => p99Ms <= mostMs,
});
export const latencyWithin = (p50MostMs: number, p99MostMs: number): Goal => ({
  text: `p50 ≤ ${p50MostMs} ms, p99 ≤ ${p99MostMs} ms`,
  isReached: ({ p50Ms = Infinity, p99Ms = Infinity }) => p50Ms <= p50MostMs && p99Ms <= p99MostMs,
});

const HEADINGS = [
  'operation',
  'per second',
  'p50 ms',
  'p99 ms',
  'floor',
  'ratio',
  'memory MB',
  'goal',
  'reached',
  'note',
];

/** Returns the rows as a Markdown table. */
export function renderTable(rows: Row[]): string {
  return renderColumns(HEADINGS, rows.map(cellsOf));
}

/** Returns a Markdown table with aligned columns. */
export function renderColumns(headings: string[], body: string[][]): string {
  const lines = [headings, ...body];
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const render = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [render(headings), rule, ...body.map(render)].join('\n');
}

function cellsOf(row: Row): string[] {
  return [
    row.operation,
    number(row.perSecond, 0),
    number(row.p50Ms, 2),
    number(row.p99Ms, 2),
    number(row.floorPerSecond, 0),
    number(row.ratio, 2),
    number(row.memoryMb, 0),
    row.goal?.text ?? '',
    row.goal === undefined ? '' : row.goal.isReached(row) ? 'yes' : 'no',
    row.note ?? '',
  ];
}

/** Returns the value as text with `digits` decimal places. Returns an empty text if the value is undefined. */
export function number(value: number | undefined, digits: number): string {
  return value === undefined ? '' : value.toFixed(digits);
}
