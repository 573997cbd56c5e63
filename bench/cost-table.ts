import { number, renderColumns } from './table.ts';

/** Row of the table of costs: the CPU time and the bytes that one call takes. A value is undefined if this machine cannot measure it. */
export interface CostRow {
  call: string;
  /**
   * Number of concurrent calls. The service can handle concurrent calls of the same kind as one batch, with one statement and one commit.
   */
  concurrent: number;
  /** Number of tenants to which the calls belong. */
  tenants: number;
  /** CPU time of the process of the service for one call, in microseconds. */
  apiUs?: number | undefined;
  /** CPU time of all processes of PostgreSQL for one call, in microseconds. */
  postgresUs?: number | undefined;
  /** CPU time of Redis for one call, in microseconds. Also undefined if this machine has no Redis. */
  redisUs?: number | undefined;
  /** Bytes of the write-ahead log for one call. */
  walBytes?: number | undefined;
  /** Bytes by which the tables and indexes of the database grow for one call. */
  storedBytes?: number | undefined;
}

const HEADINGS = [
  'call',
  'concurrent calls × tenants',
  'API µs',
  'PostgreSQL µs',
  'Redis µs',
  'per CPU second of API',
  'per CPU second of PostgreSQL',
  'WAL bytes',
  'stored bytes',
];

/** Returns the rows as a Markdown table. The table also shows how many calls can be made with one second of CPU time. */
export function renderCostTable(rows: CostRow[]): string {
  return renderColumns(
    HEADINGS,
    rows.map((row) => [
      row.call,
      `${row.concurrent} × ${row.tenants}`,
      number(row.apiUs, 0),
      number(row.postgresUs, 0),
      number(row.redisUs, 1),
      number(perCpuSecond(row.apiUs), 0),
      number(perCpuSecond(row.postgresUs), 0),
      number(row.walBytes, 0),
      number(row.storedBytes, 0),
    ]),
  );
}

/**
 * Returns how many calls can be made with one second of CPU time. Returns undefined if the time of a call is unknown or too short to
 * measure.
 */
function perCpuSecond(us = 0): number | undefined {
  return us > 0 ? 1_000_000 / us : undefined;
}
