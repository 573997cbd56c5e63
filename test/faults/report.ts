import type { Findings } from './findings.ts';

/** What a fault came to, over its rounds. */
export interface FaultResult {
  fault: string;
  rounds: number;
  requests: number;
  unknown: number;
  events: number;
  interrupted: number;
  /** The worst of the rounds. */
  p99Ms: number;
  slowestMs: number;
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

/** The table, then what was skipped, the times that are bounded, and every violation with where to look. */
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
    'p99: from the commit of an event to its first POST at a healthy receiver, the worst round; time without a database and',
    'interrupted deliveries (bounded by the lease: 25 s) left out. slowest: of all, with nothing left out.',
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
    return `${what}: at most ${(worst / 1000).toFixed(2)} s of ${(group[0]?.limitMs ?? 0) / 1000} s, ${group.length} times`;
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
