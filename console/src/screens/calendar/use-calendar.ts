import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useHouse } from '../../api/house.ts';
import { read } from '../../api/reads.ts';
import { addDays } from '../../ui/format.ts';
import { datesOf, keyOf } from './nights.ts';
import { rowsOf } from './rows.tsx';
import type { CalendarSearch } from './search.ts';
import { useWrites } from './writes.ts';

/** Reads the nights that the address names. */
export function useCalendar() {
  const search = useSearch({ from: '/shell/calendar' });
  const navigate = useNavigate({ from: '/calendar' });
  const set = useCallback(
    // A night is a place to come back to, the dates around it are not.
    (change: CalendarSearch) =>
      void navigate({ search: (present) => ({ ...present, ...change }), replace: !('night' in change) }),
    [navigate],
  );
  const { properties, todayAt } = useHouse();
  const property = (properties?.find(({ id }) => id === search.property) ?? properties?.[0])?.id ?? '';
  const { from = todayAt(property), nights = 14 } = search;
  const input = { query: { property_id: property, from, to: addDays(from, nights) } };
  const query = useQuery({
    ...read('getCalendar', input, ['reservations', 'rates', 'rooms']),
    enabled: property !== '',
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  const { sending } = useWrites();
  const painted = useMemo(() => new Map(sending.flat().map((change) => [keyOf(change), change.after])), [sending]);
  return {
    night: search.night,
    nights,
    set,
    move: (days: number) => set({ from: addDays(from, days) }),
    properties,
    property,
    query,
    isEmpty: properties?.length === 0 || data?.room_types.length === 0,
    rows: useMemo(() => (data ? rowsOf(data, painted) : []), [data, painted]),
    dates: useMemo(() => (data ? datesOf(data) : []), [data?.from, data?.to]),
  };
}
