import type { Violation } from '../findings.ts';

/** Results of one fault in one round. */
export interface RoundResult {
  fault: string;
  round: number;
  /** Number of writes that got a 2xx. */
  acknowledged: number;
  /** Number of acknowledged writes that the database does not have. */
  lost: number;
  /** Number of calls that got no status below 500, although the client repeated them. */
  unsettled: number;
  /** Longest time between two acknowledged writes, in milliseconds. */
  longestGapMs: number;
  violations: Violation[];
}

const COLUMNS = [
  'fault',
  'rounds',
  'acknowledged writes',
  'lost',
  'longest gap, s',
  'errors that a retry did not settle',
  'broken guarantees',
];

/** Returns the results as a Markdown table, one row for each fault. */
export function tableOf(results: RoundResult[]): string {
  const groups = [...Map.groupBy(results, ({ fault }) => fault)];
  const rows = groups.map(([fault, rounds]) => [fault, ...countsOf(rounds)]);
  const all = groups.length > 1 ? [['all', ...countsOf(results)]] : [];
  return [COLUMNS, COLUMNS.map(() => '---'), ...rows, ...all].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function countsOf(rounds: RoundResult[]): string[] {
  const sum = (count: (result: RoundResult) => number) => rounds.reduce((total, each) => total + count(each), 0);
  const longestGapMs = Math.max(...rounds.map((each) => each.longestGapMs));
  return [
    String(new Set(rounds.map(({ round }) => round)).size),
    String(sum(({ acknowledged }) => acknowledged)),
    String(sum(({ lost }) => lost)),
    (longestGapMs / 1000).toFixed(1),
    String(sum(({ unsettled }) => unsettled)),
    String(sum(({ violations }) => violations.length)),
  ];
}

/** Returns one line for each broken guarantee, with the place where an investigation should begin. */
export function violationsIn(results: RoundResult[]): string {
  return results
    .flatMap(({ fault, round, violations }) =>
      violations.map(({ promise, what, lookAt }) => {
        return `BROKEN in ${fault}, round ${round}: ${promise}: ${what}${lookAt === '' ? '' : ` (look at: ${lookAt})`}`;
      }),
    )
    .join('\n');
}
