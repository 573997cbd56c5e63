import { type Goals, breaches, type Measured } from './verdict.ts';

const COLUMNS = [
  'case',
  'admitted calls',
  "busy tenant's statuses",
  "other tenant's p50 / p99 / max, ms",
  "other tenant's statuses",
  "control process's p99, ms",
  '`/livez` p99.9 (control), ms',
  'longest event loop turn, ms of processor time',
  'longest event loop pause (control), ms',
  'memory before / peak / after, MiB',
  'most expensive call when sent alone',
  'verdict',
];

/** Returns the measurements as a Markdown table. */
export function tableOf(all: Measured[], goals: Goals): string {
  const rows = all.map((measured) => rowOf(measured, goals));
  return [COLUMNS, COLUMNS.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function rowOf(measured: Measured, goals: Goals): string[] {
  const { other, control, livez, controlLivez, memoryMiB, worstAlone, died } = measured;
  const broken = breaches(measured, goals);
  return [
    measured.name,
    String(measured.letIn),
    statusesOf(measured.hog),
    `${other.p50Ms} / ${other.p99Ms} / ${other.maxMs}`,
    statusesOf(other.statuses),
    String(control.p99Ms),
    `${livez.p999Ms} (${controlLivez.p999Ms})`,
    String(measured.heldMs),
    `${measured.standstillMs} (${measured.controlStandstillMs})`,
    `${memoryMiB.before} / ${memoryMiB.peak} / ${died === null ? memoryMiB.after || 'no response' : 'process ended'}`,
    worstAlone === null ? '' : `${worstAlone.name}: ${worstAlone.heldMs} ms, ${worstAlone.status}`,
    broken.length === 0 ? 'no breach' : `**${broken.length} breaches**`,
  ].map((cell) => cell.replaceAll('|', '\\|'));
}

function statusesOf(statuses: Record<string, number>): string {
  const list = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return list.join(', ');
}
