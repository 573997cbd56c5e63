import { queryOptions } from '@tanstack/react-query';
import { guestFilters, readMerged, REREAD_MS } from '../../api/reads.ts';
import { addDays } from '../../ui/format.ts';
import type { DayView } from './search.ts';
import { nextOf, type Stay } from './statuses.ts';

/** Most pages of a day that are read. A page has 100 stays. */
const MOST_PAGES = 5;

/**
 * Stays of a day, those first with which something is still to be done. Today, these are also the arrivals and departures that nobody has
 * reported yesterday, because guests come after midnight, and leave unseen.
 */
export function dayQuery(view: DayView, day: string, today: string, property: string | undefined) {
  const isToday = day === today;
  const unreported = isToday ? [{ status: 'confirmed', date: addDays(day, -1) }] : [];
  const filters: Record<string, string>[] = {
    arrivals: [{ arriving_on: day }, ...unreported.map(({ status, date }) => ({ status, arriving_on: date }))],
    departures: [{ departing_on: day }, ...unreported.map(({ status, date }) => ({ status, departing_on: date }))],
    // Who leaves today is in the house until then.
    house: isToday ? [{ staying_on: day }, { departing_on: day }] : [{ staying_on: day }],
  }[view];
  const ofProperty = filters.map((filter) => ({ ...filter, property_id: property ?? '' }));
  return queryOptions({
    queryKey: [FINDING.list, { view, day, today, property }] as const,
    queryFn: async ({ signal }) => ({
      results: await readMerged(FINDING.list, ofProperty, FINDING.idOf, MOST_PAGES, signal),
      next: null,
    }),
    // A row that has just changed finds its new place at once.
    select({ results }) {
      const rank = (stay: Stay) =>
        [isOverdue(stay, view, day), nextOf(stay, today) !== undefined, stay.status !== 'no_show', true].indexOf(true);
      return results
        .filter((stay) => (view === 'house' ? isInHouse(stay, day, today) : isExpected(stay, view, day, today)))
        .sort((one, other) => rank(one) - rank(other) || one.guest.name.localeCompare(other.guest.name));
    },
    meta: { topics: FINDING.topics },
    refetchInterval: REREAD_MS,
  });
}

function isExpected(stay: Stay, view: 'arrivals' | 'departures', day: string, today: string): boolean {
  if (isOverdue(stay, view, day)) return nextOf(stay, today) === (view === 'arrivals' ? 'arrive' : 'leave');
  return stay.status !== 'cancelled' && stay.status !== 'expired';
}

/** True if the stay should have come, or gone, before the day. */
export function isOverdue({ check_in: arrival, check_out: departure }: Stay, view: DayView, day: string): boolean {
  return view !== 'house' && (view === 'arrivals' ? arrival : departure) < day;
}

function isInHouse({ status, check_in: arrival, arrived_at: arrivedAt }: Stay, day: string, today: string): boolean {
  if (day === today) return status === 'confirmed' && (arrival < today || arrivedAt !== null);
  return status === 'confirmed' || status === (day < today ? 'completed' : 'pending');
}

const REFERENCE = /^[0-9A-Z]{8}$/;
/** Letters that no reference has, because they are misheard or misread for these digits. */
const MISREAD: Record<string, string> = { O: '0', I: '1', L: '1' };

/** What a guest or a partner says to find a stay: its reference, an id, an e-mail, a phone number, a name. */
export const FINDING = {
  list: 'listStaffReservations' as const,
  topics: ['reservations' as const],
  idOf: ({ reservation_id: id }: Stay) => id,
  filtersOf(text: string): Record<string, string>[] {
    const letters = text.replace(/[\s\p{P}]/gu, '').toUpperCase();
    const reference = letters.replace(/[OIL]/g, (letter) => MISREAD[letter] ?? letter);
    return [
      { external_id: text.slice(0, 150) },
      ...(REFERENCE.test(letters) ? [{ natural_id: `${reference.slice(0, 4)}-${reference.slice(4)}` }] : []),
      ...(text.includes('@') ? [{ email: text.slice(0, 254) }] : guestFilters(text)),
    ];
  },
};
