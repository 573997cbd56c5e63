import { call, type Input, newRequestId } from '../../api/client.ts';
import { keepRow, queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { addDays, formatDate } from '../../ui/format.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { press, write } from '../../ui/press.ts';
import { ask } from '../../ui/question.tsx';
import { bookerOf, formatNights, type Next, stateOf, STATUS, type Stay, type StayWithHistory } from './statuses.ts';

export const stayQuery = (id: string) => read('getStaffReservation', { path: { id } }, ['reservations']);
const pathOf = ({ reservation_id: id }: Stay) => ({ id });

/** Puts a stay that the service has just answered in place of what the screen knew of it. */
export async function keepStay(stay: StayWithHistory): Promise<StayWithHistory> {
  const { history: _history, ...row } = stay;
  queryClient.setQueryData(stayQuery(stay.reservation_id).queryKey, stay);
  await keepRow('listStaffReservations', row, ({ reservation_id: id }) => id);
  return stay;
}

export async function setArrived(stay: Stay, arrived: boolean): Promise<void> {
  const send = () => call('setArrival', { path: pathOf(stay), body: { arrived } });
  await press(stay.guest.name, arrived ? 'arrived' : 'taken back', () => writeStay(stay, send));
}

async function setStatus(stay: Stay, status: Stay['status'], reason?: string): Promise<void> {
  const body = { status, expected_status: stay.status, request_id: newRequestId(), reason };
  const send = () => call('changeReservationStatus', { path: pathOf(stay), body });
  await press(stay.guest.name, STATUS[status].label.toLowerCase(), () => writeStay(stay, send));
}

export async function doNext(stay: Stay, next: Next, today: string): Promise<void> {
  if (next === 'leave') askFor(stay, 'completed', today);
  else await (next === 'arrive' ? setArrived(stay, true) : setStatus(stay, 'confirmed'));
}

/** Changes a stay that is still as the person saw it. @throws as `write` does */
export async function changeStay(stay: Stay, change: Input<'changeStay'>['body']): Promise<StayWithHistory> {
  const body = { ...change, expected_changed_at: stay.changed_at };
  return await writeStay(stay, () => call('changeStay', { path: pathOf(stay), body }));
}

function writeStay(stay: Stay, send: () => Promise<StayWithHistory>) {
  return write({
    send,
    read: () => call('getStaffReservation', { path: pathOf(stay) }),
    keep: keepStay,
    explain(now) {
      const last = now.history.at(-1);
      // A change of dates or of the guest is no step of the history, so its author is not known here.
      const by = last?.at === now.changed_at ? last.by : undefined;
      return `${whoWasFirst(by)} The stay is ${stateOf(now).label.toLowerCase()} now.`;
    },
  });
}

type Asked = 'cancelled' | 'no_show' | 'completed' | 'ended';

/** Asks before a move that nobody can take back: it says what becomes of the nights, and who is told. */
export function askFor(stay: Stay, to: Asked, today: string): void {
  const { natural_id: reference, guest, check_out: end, source, status } = stay;
  const told = {
    partner: `${bookerOf(stay)} is told at once.`,
    ota: `${bookerOf(stay)} is not told from here, so tell it there too.`,
    house: '',
  }[source];
  const last = earliestEnd(stay, today);
  const nights =
    status === 'expired' ? 'Its nights are free already.' : `Its nights are free at once: ${formatNights(stay)}.`;
  const words = {
    cancelled: {
      title: `Cancel ${reference} of ${guest.name}?`,
      text: `${nights} ${told} This cannot be undone.`,
      reasons: ['The guest asked for it.', 'The guest cannot be reached.', 'The room cannot be used.'],
      action: 'Cancel the stay',
    },
    no_show: {
      title: `${guest.name} did not come?`,
      text: `The room stays held until ${formatDate(end)}, so nobody else can book it. To sell it again, cancel the stay afterwards. ${told}`,
      reasons: ['The guest cannot be reached.'],
      action: 'No-show',
    },
    completed: {
      title: `${guest.name} has left?`,
      text: `The stay is closed. ${told} This cannot be undone.`,
      action: 'Left',
    },
    ended: {
      title: `${guest.name} leaves on ${formatDate(last, 'weekday')}?`,
      text: `The nights from ${formatDate(last)} to ${formatDate(end)} are free at once. The amount of the stay remains as it is.`,
      action: 'End the stay early',
    },
  }[to];
  const endEarly = () => press(guest.name, 'ended', () => changeStay(stay, { check_out: last }));
  const run = (reason?: string) => void (to === 'ended' ? endEarly() : setStatus(stay, to, reason));
  ask({ ...words, color: to === 'completed' ? undefined : 'red', cancel: 'Keep it', run });
}

/** First day on which a stay can end: today, but after one night at least. */
export function earliestEnd({ check_in: from }: Stay, today: string): string {
  const first = addDays(from, 1);
  return first > today ? first : today;
}
