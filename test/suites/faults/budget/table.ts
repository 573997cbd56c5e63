import { breaches, type Goals, type Measured, type Times } from './verdict.ts';

const COLUMNS = [
  'case',
  "busy tenant's statuses; slowest, ms",
  "other tenant's statuses",
  "other tenant's p99 (control), ms",
  '`/livez` p99.9 (control), ms',
  'longest turn, ms',
  'memory before / peak, MiB',
  'verdict',
];

/** Returns the measurements as a Markdown table. */
export function tableOf(all: Measured[], goals: Goals): string {
  const rows = all.map((measured) => rowOf(measured, goals));
  return [COLUMNS, COLUMNS.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function rowOf(measured: Measured, goals: Goals): string[] {
  const { name, hog, other, control, livez, controlLivez, heldMs, memoryMiB } = measured;
  const broken = breaches(measured, goals).length;
  return [
    name,
    `${statusesOf(hog)}; ${hog.maxMs}`,
    statusesOf(other),
    `${other.p99Ms} (${control.p99Ms})`,
    `${livez.p999Ms} (${controlLivez.p999Ms})`,
    String(heldMs),
    `${memoryMiB.before} / ${memoryMiB.peak}`,
    broken === 0 ? 'no breach' : `**${broken} breaches**`,
  ];
}

function statusesOf({ statuses }: Times): string {
  const list = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return list.join(', ');
}
