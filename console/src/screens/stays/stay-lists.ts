import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Answer, Input } from '../../api/client.ts';
import { readPages } from '../../api/read-pages.ts';
import { REREAD_MS } from '../../api/reads.ts';
import type { DayView } from './search.ts';
import { nextOf, type Stay } from './statuses.ts';

type Filters = NonNullable<Input<'listStaffReservations'>['query']>;
type Page = Answer<'listStaffReservations'>;

/** Most pages of a day that are read. A page has 100 stays. */
const MOST_PAGES = 5;

interface Day {
  view: DayView;
  day: string;
  today: string;
  property: string | undefined;
}

/** Stays of a day, those first with which something is still to be done. */
export function dayQuery({ view, day, today, property }: Day) {
  const ofHouse: Filters = property === undefined ? {} : { property_id: property };
  return queryOptions({
    queryKey: ['listStaffReservations', { view, day, today, property }] as const,
    queryFn: async ({ signal }): Promise<Page> => {
      const filters: Filters[] = {
        arrivals: [{ arriving_on: day }],
        departures: [{ departing_on: day }],
        // Who leaves today is in the house until then.
        house: day === today ? [{ staying_on: day }, { departing_on: day }] : [{ staying_on: day }],
      }[view];
      const ofDay = filters.map((filter) => ({ ...ofHouse, ...filter }));
      return { results: await readMerged(ofDay, MOST_PAGES, signal), next: null };
    },
    // A row that has just changed finds its new place at once.
    select: ({ results }) => {
      const rank = (stay: Stay) => (nextOf(stay, today) !== undefined ? 0 : stay.status === 'no_show' ? 2 : 1);
      const shown = results
        .filter((stay) => (view === 'house' ? isInHouse(stay, day, today) : isExpected(stay)))
        .sort((one, other) => rank(one) - rank(other) || one.guest.name.localeCompare(other.guest.name));
      return { results: shown, next: null };
    },
    meta: { topics: ['reservations'] },
    refetchInterval: REREAD_MS,
  });
}

function isExpected({ status }: Stay): boolean {
  return status !== 'cancelled' && status !== 'expired';
}

function isInHouse({ status, check_in: arrival, arrived_at: arrivedAt }: Stay, day: string, today: string): boolean {
  if (day === today) return status === 'confirmed' && (arrival < today || arrivedAt !== null);
  return status === 'confirmed' || status === (day < today ? 'completed' : 'pending');
}

/** Stays for what a guest has said, the newest first. */
export function findQuery(text: string) {
  return queryOptions({
    queryKey: ['listStaffReservations', { text }] as const,
    queryFn: async ({ signal }): Promise<Page> => {
      const found = await readMerged(filtersOf(text), 1, signal);
      return { results: found.sort((one, other) => (one.created_at < other.created_at ? 1 : -1)), next: null };
    },
    enabled: text !== '',
    placeholderData: keepPreviousData,
    meta: { topics: ['reservations'] },
    refetchInterval: REREAD_MS,
  });
}

const REFERENCE = /^([0-9a-z]{4})[\s-]?([0-9a-z]{4})$/i;
const PHONE = /^[+(]?\d[\d\s()./-]{4,29}$/;
/** Letters that no reference has, because they are misheard or misread for these digits. */
const MISREAD: Record<string, string> = { O: '0', I: '1', L: '1' };

/** The filters of the API that a text may be meant for. */
export function filtersOf(text: string): Filters[] {
  const filters: Filters[] = [{ external_id: text.slice(0, 150) }];
  const [, first, last] = REFERENCE.exec(text) ?? [];
  if (first !== undefined) {
    const reference = `${first}-${last}`.toUpperCase();
    filters.push({ natural_id: reference.replace(/[OIL]/g, (letter) => MISREAD[letter] ?? letter) });
  }
  if (text.includes('@')) filters.push({ email: text.slice(0, 254) });
  else if (PHONE.test(text)) filters.push({ phone: text.replace(/^00/, '') });
  else if (/\p{L}/u.test(text) && text.length > 1) filters.push({ name: text.slice(0, 100) });
  return filters;
}

/** Reads the lists side by side, and names each stay once. */
async function readMerged(filters: Filters[], mostPages: number, signal: AbortSignal): Promise<Stay[]> {
  const lists = await Promise.all(
    filters.map((filter) => readPages('listStaffReservations', filter, mostPages, signal)),
  );
  return [...new Map(lists.flat().map((stay) => [stay.reservation_id, stay])).values()];
}
