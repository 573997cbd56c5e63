import { number, renderColumns } from './table.ts';

/**
 * Row of the table that compares queues. It has the measured values of one sender at one number of receivers. The sender is the service, a
 * queue library, or a program without a queue (the floor). A value is undefined if it does not apply to the sender.
 */
export interface QueueRow {
  receivers: number;
  sender: string;
  perSecond?: number | undefined;
  /** Deliveries per second, divided by the deliveries per second of the floor (a program without a queue). */
  ofFloor?: number | undefined;
  /** Deliveries per second, divided by the deliveries per second of graphile-worker. */
  ofGraphileWorker?: number | undefined;
  /** CPU time of the sender for one delivery, in milliseconds. */
  senderCpuMs?: number | undefined;
  /** CPU time that the server of the queue (PostgreSQL or Redis) takes for one delivery, in milliseconds. */
  storeCpuMs?: number | undefined;
  /** Number of connections that the sender opened. */
  connections?: number | undefined;
  goals?: QueueGoal[];
  note?: string;
  /** Text below the table that says what the sender guarantees. */
  guarantees?: string;
}

/** Goal of a row: a bound for one value, and the text of this bound in the table. */
export interface QueueGoal {
  text: string;
  isReached(row: QueueRow): boolean;
}

type Measure = 'ofFloor' | 'ofGraphileWorker' | 'senderCpuMs' | 'storeCpuMs';

const HEADINGS: Record<Measure, string> = {
  ofFloor: '× floor',
  ofGraphileWorker: '× graphile-worker',
  senderCpuMs: 'sender CPU ms',
  storeCpuMs: 'store CPU ms',
};

export const atLeast = (measure: Measure, least: number): QueueGoal => ({
  text: `${HEADINGS[measure]} ≥ ${least}`,
  isReached: ({ [measure]: value = 0 }) => value >= least,
});
export const atMost = (measure: Measure, most: number): QueueGoal => ({
  text: `${HEADINGS[measure]} ≤ ${most}`,
  isReached: ({ [measure]: value = Infinity }) => value <= most,
});

/** Returns the rows as a Markdown table, with the guarantees of each sender in a list below the table. */
export function renderQueueTable(rows: QueueRow[]): string {
  const headings = [
    'receivers',
    'sender',
    'per second',
    ...Object.values(HEADINGS),
    'connections',
    'goals',
    'reached',
    'note',
  ];
  const guarantees = new Map(rows.map(({ sender, guarantees: text }) => [sender, text]));
  const lines = [...guarantees]
    .filter(([, text]) => text !== undefined)
    .map(([sender, text]) => `- ${sender}: ${text}`);
  return [renderColumns(headings, rows.map(cellsOf)), '', ...lines].join('\n');
}

function cellsOf(row: QueueRow): string[] {
  const goals = row.goals ?? [];
  return [
    String(row.receivers),
    row.sender,
    number(row.perSecond, 0),
    number(row.ofFloor, 2),
    number(row.ofGraphileWorker, 2),
    number(row.senderCpuMs, 3),
    number(row.storeCpuMs, 3),
    number(row.connections, 0),
    goals.map(({ text }) => text).join(', '),
    goals.map((goal) => (goal.isReached(row) ? 'yes' : 'no')).join(', '),
    row.note ?? '',
  ];
}
