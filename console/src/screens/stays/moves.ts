import { call, type Input } from '../../api/client.ts';
import { keepRow } from '../../api/keep-row.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { newRequestId } from '../../api/request-id.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { press, write } from '../../ui/press.ts';
import { type Stay, stateOf, STATUS, type StayWithHistory } from './statuses.ts';

export const stayQuery = (id: string) => read('getStaffReservation', { path: { id } }, ['reservations']);
const pathOf = ({ reservation_id: id }: Stay) => ({ id });

/** Puts a stay that the service has just answered in place of what the screen knew of it. */
export async function keepStay(stay: StayWithHistory): Promise<StayWithHistory> {
  const { history: _history, ...row } = stay;
  queryClient.setQueryData(stayQuery(stay.reservation_id).queryKey, stay);
  await keepRow('listStaffReservations', row, ({ reservation_id: id }) => id);
  return stay;
}

/** Reports that guests have arrived, or that they have not. */
export async function setArrived(stay: Stay, arrived: boolean): Promise<void> {
  const send = () => call('setArrival', { path: pathOf(stay), body: { arrived } });
  await press(stay.guest.name, arrived ? 'arrived' : 'taken back', () => writeStay(stay, send));
}

/** Gives a stay another status. */
export async function setStatus(stay: Stay, status: Stay['status'], reason?: string): Promise<void> {
  const body = { status, expected_status: stay.status, request_id: newRequestId(), reason };
  const send = () => call('changeReservationStatus', { path: pathOf(stay), body });
  await press(stay.guest.name, STATUS[status].label.toLowerCase(), () => writeStay(stay, send));
}

export async function endEarly(stay: Stay, date: string): Promise<void> {
  await press(stay.guest.name, 'ended', () => changeStay(stay, { check_out: date }));
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
