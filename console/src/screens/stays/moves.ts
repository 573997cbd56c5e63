import { notifications } from '@mantine/notifications';
import { call, type Input, Refused } from '../../api/client.ts';
import { keepRow } from '../../api/keep-row.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { newRequestId } from '../../api/request-id.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { whoWasFirst } from '../../ui/history.tsx';
import { type Stay, stateOf, STATUS, type StayWithHistory } from './statuses.ts';

export const stayQuery = (id: string) => read('getStaffReservation', { path: { id } }, ['reservations']);

/** Puts a stay that the service has just answered in place of what the screen knew of it. */
export async function keepStay(stay: StayWithHistory): Promise<StayWithHistory> {
  const { history: _history, ...row } = stay;
  queryClient.setQueryData(stayQuery(stay.reservation_id).queryKey, stay);
  await keepRow('listStaffReservations', row, ({ reservation_id: id }) => id);
  return stay;
}

/** Reports that guests have arrived, or that they have not. */
export async function setArrived(stay: Stay, arrived: boolean): Promise<void> {
  const path = { id: stay.reservation_id };
  await tell(stay, arrived ? 'arrived' : 'taken back', () => call('setArrival', { path, body: { arrived } }));
}

/** Gives a stay another status. */
export async function setStatus(stay: Stay, status: Stay['status'], reason?: string): Promise<void> {
  const path = { id: stay.reservation_id };
  const body = { status, expected_status: stay.status, request_id: newRequestId(), ...(reason && { reason }) };
  await tell(stay, STATUS[status].label.toLowerCase(), () => call('changeReservationStatus', { path, body }));
}

export async function endEarly(stay: Stay, date: string): Promise<void> {
  await tell(stay, 'ended', () => changeStay(stay, { check_out: date }));
}

/** Sends a write, and says why if it did not count. */
async function tell(stay: Stay, what: string, write: () => Promise<StayWithHistory>): Promise<void> {
  try {
    await keepStay(await sendWhenBack(write).catch((error: Error) => reread(stay, error)));
  } catch (error) {
    const title = `${stay.guest.name}: not ${what}`;
    const isLate = error instanceof Slower;
    notifications.show({
      title,
      message: (error as Error).message,
      color: isLate ? 'yellow' : 'red',
      autoClose: isLate && 8_000,
    });
  }
}

type Change = Input<'changeStay'>['body'];

/** Changes a stay that is still as the person saw it. @throws Refused, Slower, TakenBack */
export async function changeStay(stay: Stay, change: Change): Promise<StayWithHistory> {
  const input = { path: { id: stay.reservation_id }, body: { ...change, expected_changed_at: stay.changed_at } };
  return await keepStay(
    await sendWhenBack(() => call('changeStay', input)).catch((error: Error) => reread(stay, error, change)),
  );
}

/** Somebody else was first. */
class Slower extends Error {}

/** Reads a stay again after a refused write. @returns it, if the change was made by an earlier try whose answer was lost @throws Slower */
async function reread(stay: Stay, error: Error, change?: Change): Promise<StayWithHistory> {
  void queryClient.invalidateQueries({ queryKey: ['listStaffReservations'] });
  if (!(error instanceof Refused) || error.code !== 'invalid_status_transition') throw error;
  const now = await keepStay(await call('getStaffReservation', { path: { id: stay.reservation_id } }));
  const wanted = change && { ...now, ...change, guest: { ...now.guest, ...change.guest } };
  if (JSON.stringify(wanted) === JSON.stringify(now)) return now;
  const last = now.history.at(-1);
  // A change of dates or of the guest is no step of the history, so its author is not known here.
  const by = last?.at === now.changed_at ? last.by : undefined;
  throw new Slower(`${whoWasFirst(by)} The stay is ${stateOf(now).label.toLowerCase()} now.`);
}
