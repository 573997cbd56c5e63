import type { Findings } from './findings.ts';

/** Results of one fault over all rounds of the run. */
export interface FaultResult {
  fault: string;
  rounds: number;
  requests: number;
  unknown: number;
  events: number;
  interrupted: number;
  /** 99th percentile of the time from the commit of an event to its first POST, in the round in which this percentile is largest. */
  p99Ms: number;
  slowestMs: number;
  /** Number of writes that got a 2xx. */
  acknowledged: number;
  /** Number of acknowledged orders, reservations and statuses that the database does not have. */
  lost: number;
  /** Number of calls that failed at every try of the client. Each try got a status of 500 or above, or no response. */
  unsettled: number;
  /** Longest time between two acknowledged writes during the load, in milliseconds. */
  longestGapMs: number;
}

const COLUMNS = [
  'fault',
  'rounds',
  'requests',
  'unknown',
  'events',
  'interrupted',
  'p99 ms',
  'slowest ms',
  'violations',
];

/**
 * Returns the report: the table of faults, the skipped faults, the measured times with their limits, and every violation with the place
 * where an investigation should begin.
 */
export function report(results: FaultResult[], findings: Findings): string {
  const violationsOf = (fault: string) => findings.violations.get(fault)?.length ?? 0;
  const rows = results.map((result) => [
    result.fault,
    ...[result.rounds, result.requests, result.unknown, result.events, result.interrupted].map(String),
    ...[result.p99Ms, result.slowestMs, violationsOf(result.fault)].map(String),
  ]);
  const lines = [
    ...table([COLUMNS, ...rows]),
    '',
    'p99 is the time from the commit of an event to its first POST at a healthy receiver, in the worst round. It excludes time without',
    'a database, and interrupted deliveries, which the lease bounds to 25 s. slowest is the longest of these times, without exclusions.',
    ...[...findings.skipped].map(([fault, why]) => `skipped: ${fault}: ${why}`),
    '',
    ...timesOf(findings),
    ...violationsIn(findings),
    `${findings.count} violations`,
  ];
  return lines.join('\n');
}

function table(rows: string[][]): string[] {
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return cells.join('  ');
  });
}

function timesOf({ measurements }: Findings): string[] {
  const groups = Map.groupBy(measurements, ({ what }) => what);
  return [...groups].map(([what, group]) => {
    const worst = Math.max(...group.map(({ valueMs }) => valueMs));
    return `${what}: at most ${(worst / 1000).toFixed(2)} s (limit ${(group[0]?.limitMs ?? 0) / 1000} s) in ${group.length} measurements`;
  });
}

function violationsIn({ violations }: Findings): string[] {
  return [...violations].flatMap(([fault, list]) =>
    [...Map.groupBy(list, ({ promise }) => promise)].flatMap(([promise, group]) => [
      '',
      `VIOLATION in ${fault}, of ${promise}:`,
      ...group.map(({ what }) => `  ${what}`),
      ...[...new Set(group.map(({ lookAt }) => lookAt))].filter(Boolean).map((lookAt) => `  look at: ${lookAt}`),
    ]),
  );
}
