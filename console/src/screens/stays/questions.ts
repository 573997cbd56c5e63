import { addDays, formatDate } from '../../ui/format.ts';
import type { Question } from '../../ui/reason-dialog.tsx';
import { endEarly, setStatus } from './moves.ts';
import { bookerOf, formatNights, type Stay } from './statuses.ts';

export type Asked = 'cancelled' | 'no_show' | 'completed' | 'ended';

/** What a person is asked before a move that nobody can take back: it says what becomes of the nights, and who is told. */
export function questionOf(stay: Stay, to: Asked, today: string): Question {
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
      press: 'Cancel the stay',
    },
    no_show: {
      title: `${guest.name} did not come?`,
      text: `The room stays held until ${formatDate(end)}, so nobody else can book it. To sell it again, cancel the stay afterwards. ${told}`,
      reasons: ['The guest cannot be reached.'],
      press: 'No-show',
    },
    completed: {
      title: `${guest.name} has left?`,
      text: `The stay is closed. ${told} This cannot be undone.`,
      press: 'Left',
    },
    ended: {
      title: `${guest.name} leaves on ${formatDate(last, 'weekday')}?`,
      text: `The nights from ${formatDate(last)} to ${formatDate(end)} are free at once. The amount of the stay remains as it is.`,
      press: 'End the stay early',
    },
  }[to];
  const run = (reason?: string) => void (to === 'ended' ? endEarly(stay, last) : setStatus(stay, to, reason));
  return { ...words, isGrave: to !== 'completed', run };
}

/** First day on which a stay can end: today, but after one night at least. */
export function earliestEnd({ check_in: from }: Stay, today: string): string {
  const first = addDays(from, 1);
  return first > today ? first : today;
}
