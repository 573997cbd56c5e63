import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { serverNow } from '../../live/clock.ts';
import { addDays } from '../../ui/format.ts';
import { datesOf, rowsOf, withValues } from './nights.ts';
import type { CalendarSearch } from './search.ts';
import { useWrites } from './writes.ts';

const nightsQuery = (property: string, from: string, nights: number) =>
  read('getCalendar', { query: { property_id: property, from, to: addDays(from, nights) } }, [
    'reservations',
    'rates',
    'rooms',
  ]);

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
  const properties = useQuery(read('listProperties', {}, ['rooms']));
  const property = properties.data?.find(({ id }) => id === search.property) ?? properties.data?.[0];
  const today = new Date(serverNow()).toLocaleDateString('en-CA', { timeZone: property?.timezone });
  const { from = today, nights = 14 } = search;
  const id = property?.id ?? '';
  const { data, error, refetch } = useQuery({
    ...nightsQuery(id, from, nights),
    enabled: id !== '',
    placeholderData: keepPreviousData,
  });
  const isRead = data !== undefined;
  useEffect(() => {
    // The neighbours, so that a step shows them at once.
    for (const days of isRead ? [-nights, nights] : []) {
      void queryClient.prefetchQuery(nightsQuery(id, addDays(from, days), nights));
    }
  }, [id, from, nights, isRead]);
  const { painted } = useWrites();
  const calendar = useMemo(() => data && withValues(data, painted), [data, painted]);
  return {
    search: { ...search, nights },
    set,
    move: useCallback((days: number) => set({ from: addDays(from, days) }), [set, from]),
    properties: properties.data,
    property,
    calendar,
    rows: useMemo(() => (calendar ? rowsOf(calendar) : []), [calendar]),
    dates: useMemo(() => (data ? datesOf(data) : []), [data?.from, data?.to]),
    error: properties.error ?? error,
    retry: () => void (properties.error ? properties.refetch() : refetch()),
  };
}
