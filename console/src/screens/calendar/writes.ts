import { notifications } from '@mantine/notifications';
import { useSyncExternalStore } from 'react';
import { call, Refused } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { serverNow } from '../../live/clock.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { type CalendarData, type Change, isEqual, keyOf, type NightValue, withValues } from './nights.ts';

/** A write that the service has refused, because others changed some of its nights after the person saw them. */
interface Conflict {
  label: string;
  nights: (Change & { now: NightValue })[];
  /** Nights of the same write that nobody else has changed. */
  rest: Change[];
  /** Who was first, and when. */
  first: { name: string | null; at: string } | null;
}

interface Undo {
  label: string;
  changes: Change[];
  /** End of the time for Undo, by the server's clock. */
  until: number;
}

const UNDO_MS = 30_000;
const KEY = { queryKey: ['getCalendar'] };

let writes = {
  /** Values that are being written, by `keyOf`. They are shown at once. */
  painted: new Map<string, NightValue>(),
  undos: [] as Undo[],
  conflict: null as Conflict | null,
};
const listeners = new Set<() => void>();

export function useWrites() {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => writes,
  );
}

function set(change: Partial<typeof writes>): void {
  writes = { ...writes, ...change };
  listeners.forEach((listener) => listener());
}

/** Keeps values in the calendars that were read. A read that is under way may have begun before the write. */
async function keep(nights: { rate_plan_id: string; date: string; value: NightValue }[]): Promise<void> {
  const values = new Map(nights.map((night) => [keyOf(night), night.value]));
  await queryClient.cancelQueries(KEY);
  queryClient.setQueriesData<CalendarData>(KEY, (calendar) => calendar && withValues(calendar, values));
  void queryClient.invalidateQueries(KEY);
  // The screen hears of it in the next turn.
  await new Promise((resolve) => setTimeout(resolve));
}

/** Writes go one after the other, because each expects what the one before has written. */
let last: Promise<unknown> = Promise.resolve();

/** Writes nights, and shows their new values at once. `label` says in a few words what is done. */
export function save(changes: Change[], label: string, isUndo = false): void {
  const real = changes.filter(({ expected, after }) => !isEqual(expected, after));
  if (real.length === 0) return;
  set({ painted: new Map([...writes.painted, ...real.map((change) => [keyOf(change), change.after] as const)]) });
  last = last.then(async () => {
    await send(real, label, isUndo).catch(({ message }: Error) =>
      notifications.show({ title: `Not saved: ${label}`, message, color: 'red', autoClose: false }),
    );
    const own = new Set(real.map(({ after }) => after));
    set({ painted: new Map([...writes.painted].filter(([, value]) => !own.has(value))) });
  });
}

async function send(changes: Change[], label: string, isUndo: boolean): Promise<void> {
  try {
    const { changed } = await sendWhenBack(() => call('changeRates', { body: { changes: changes.map(bodyOf) } }));
    const inverse = changed.map(({ before, after, ...night }) => ({ ...night, expected: after, after: before }));
    await keep(changed.map((night) => ({ ...night, value: night.after })));
    if (!isUndo) set({ undos: [...writes.undos, { label, changes: inverse, until: serverNow() + UNDO_MS }] });
  } catch (error) {
    if (!(error instanceof Refused && error.status === 409)) throw error;
    await compare(changes, label);
  }
}

export function bodyOf({ rate_plan_id, date, expected, after }: Change) {
  return { rate_plan_id, date, expected, ...after };
}

/** Reads what the nights have now, by a dry run without expected values. If the answer to an earlier try was lost, they have ours. */
async function compare(changes: Change[], label: string): Promise<void> {
  const dry = changes.map((change) => ({ ...bodyOf(change), expected: undefined }));
  const { changed } = await call('changeRates', { body: { dry_run: true, changes: dry } });
  const before = new Map(changed.map((night) => [keyOf(night), night.before]));
  const all = changes.map((change) => ({ ...change, now: before.get(keyOf(change)) ?? change.after }));
  const rest = all.filter(({ now, expected }) => isEqual(now, expected));
  const nights = all.filter(({ now, expected, after }) => !isEqual(now, expected) && !isEqual(now, after));
  await keep(all.map((night) => ({ ...night, value: night.now })));
  if (nights[0] === undefined) save(rest, label);
  else set({ conflict: { label, nights, rest, first: await whoWasFirst(nights[0]) } });
}

async function whoWasFirst({ rate_plan_id: plan, date }: Change): Promise<Conflict['first']> {
  const path = { room_type_id: placeOf(plan)?.type.id ?? '', date };
  const found = await call('getNight', { path }).catch(() => null);
  const entry = found?.history.find(({ what }) => what === 'price' || what === 'stop_sell');
  return entry ? { name: entry.by.name, at: entry.at } : null;
}

/** Finds a plan in the calendars that were read. */
export function placeOf(planId: string) {
  const calendars = queryClient.getQueriesData<CalendarData>(KEY).map(([, calendar]) => calendar?.room_types ?? []);
  return calendars
    .flat()
    .flatMap((type) => type.rate_plans.map((plan) => ({ type, plan, name: `${type.name}, ${plan.name}` })))
    .find(({ plan }) => plan.id === planId);
}

/** Ends a conflict: with the own values on all its nights, with those of the others, or (null) without any change. */
export function settle(whose: 'mine' | 'theirs' | null): void {
  const { conflict } = writes;
  set({ conflict: null });
  if (conflict === null || whose === null) return;
  const mine = whose === 'mine' ? conflict.nights.map(({ now, ...night }) => ({ ...night, expected: now })) : [];
  save([...mine, ...conflict.rest], conflict.label);
}

/** Takes the last write back, if its time is not over. A write that is under way counts. */
export function undo(): void {
  last = last.then(() => {
    const newest = writes.undos.at(-1);
    set({ undos: writes.undos.slice(0, -1) });
    if (newest !== undefined && newest.until > serverNow()) save(newest.changes, `undo of ${newest.label}`, true);
  });
}
