import { notifications } from '@mantine/notifications';
import { type Answer, call, Refused } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { serverNow } from '../../live/clock.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { addDays } from '../../ui/format.ts';
import { makeStore } from '../../ui/store.ts';

export type CalendarData = Answer<'getCalendar'>;
export type RoomType = CalendarData['room_types'][number];
export type Plan = RoomType['rate_plans'][number];

/** A night of a plan with the values that the person saw, and those that it is to get. A price that is null is the plan's base price. */
export type Change = Answer<'changeRates'>['changed'][number];
export type NightValue = Change['after'];

export function datesOf({ from, to }: CalendarData): string[] {
  return Array.from({ length: (Date.parse(to) - Date.parse(from)) / 86_400_000 }, (_, index) => addDays(from, index));
}

export function valueAt(plan: Plan, index: number): NightValue {
  return { price: plan.is_own[index] ? (plan.prices[index] ?? null) : null, is_sold_out: plan.closed[index] === true };
}

export function isEqual(a: NightValue, b: NightValue): boolean {
  return a.price === b.price && a.is_sold_out === b.is_sold_out;
}

export function keyOf({ rate_plan_id: plan, date }: Pick<Change, 'rate_plan_id' | 'date'>): string {
  return `${plan} ${date}`;
}

const whole = new Intl.NumberFormat();
const withCents = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2 });

/** Price as short as a cell needs it: `96.00` → `96`, `1234.50` → `1,234.50`. */
export function shortPrice(price: string): string {
  return (price.endsWith('.00') ? whole : withCents).format(Number(price));
}

/** A write that the service has refused, because others changed some of its nights after the person saw them. */
export interface Conflict {
  label: string;
  /** Nights that others have changed, with what these have now. */
  nights: Change[];
  /** Nights of the same write that nobody else has changed. */
  rest: Change[];
}

const UNDO_MS = 30_000;

/** Writes that are under way, the oldest first. Their values are shown at once. */
export const underWay = makeStore<Change[][]>([]);
/** Writes that can be taken back, until the server's time `until`. */
export const undos = makeStore<{ label: string; changes: Change[]; until: number }[]>([]);
export const conflict = makeStore<Conflict | null>(null);

/** Writes go one after the other, because each expects what the one before has written. */
let last: Promise<unknown> = Promise.resolve();

/** Writes nights, and shows their new values at once. `label` says in a few words what is done. */
export function save(changes: Change[], label: string, isUndo = false): void {
  const real = changes.filter(({ before, after }) => !isEqual(before, after));
  if (real.length === 0) return;
  underWay.set([...underWay.get(), real]);
  last = last.then(async () => {
    await write(real, label, isUndo).catch(({ message }: Error) =>
      notifications.show({ title: `Not saved: ${label}`, message, color: 'red', autoClose: false }),
    );
    await queryClient.invalidateQueries({ queryKey: ['getCalendar'] });
    underWay.set(underWay.get().filter((each) => each !== real));
  });
}

async function write(changes: Change[], label: string, isUndo: boolean): Promise<void> {
  try {
    const changed = await sendWhenBack(() => send(changes));
    const inverse = changed.map(({ before, after, ...night }) => ({ ...night, before: after, after: before }));
    if (!isUndo) undos.set([...undos.get(), { label, changes: inverse, until: serverNow() + UNDO_MS }]);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 409)) throw error;
    await compare(changes, label);
  }
}

type MaybeExpecting = Omit<Change, 'before'> & Partial<Change>;

/** Sends changes, and returns those that differ from what the nights had. */
export async function send(changes: MaybeExpecting[], isDryRun = false): Promise<Change[]> {
  const nights = changes.map(({ before: expected, after, ...night }) => ({ ...night, ...after, expected }));
  return (await call('changeRates', { body: { dry_run: isDryRun, changes: nights } })).changed;
}

/** Finds the nights that others have changed. If the answer to an earlier try was lost, some have the own values already. */
async function compare(changes: Change[], label: string): Promise<void> {
  const blind = changes.map(({ before, ...change }) => change);
  const differing = await send(blind, true);
  const seen = new Map(changes.map((change) => [keyOf(change), change.before]));
  const { rest = [], nights = [] } = Object.groupBy(differing, (change) =>
    isEqual(change.before, seen.get(keyOf(change)) ?? change.after) ? 'rest' : 'nights',
  );
  if (nights.length === 0) save(rest, label);
  else conflict.set({ label, nights, rest });
}

/** Ends the conflict by writing these nights of it. */
export function settle(changes: Change[]): void {
  const label = conflict.get()?.label ?? '';
  conflict.set(null);
  save(changes, label);
}

/** Takes the last write back, if its time is not over. A write that is under way counts. */
export function undo(): void {
  last = last.then(() => {
    const newest = undos.get().at(-1);
    undos.set(undos.get().slice(0, -1));
    if (newest && newest.until > serverNow()) save(newest.changes, `undo of ${newest.label}`, true);
  });
}
