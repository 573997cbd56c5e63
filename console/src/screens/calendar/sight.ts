import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useMemo } from 'react';
import { formatDate } from '../../ui/format.ts';
import type { Place } from './editing.ts';
import { shortPrice } from './nights.ts';
import type { Row } from './rows.tsx';

export const DATES_PX = 52;
export const HOUSE_PX = 31;
const HEADER_PX = DATES_PX + HOUSE_PX + 1;
const AT_ONCE = { getInitialValueInEffect: false };

export type Sizes = ReturnType<typeof useSizes>;

/** Sizes of the grid, and what is the same for all cells of a night. */
export function useSizes(today: string, rows: Row[], dates: string[], width: number) {
  const isPhone = useMediaQuery('(max-width: 48em)', false, AT_ONCE);
  const isTouch = useMediaQuery('(pointer: coarse)', false, AT_ONCE);
  const longest = useMemo(() => {
    const prices = new Set(rows.flatMap(({ plan }) => plan?.prices ?? []));
    return Math.max(0, ...[...prices].map((price) => shortPrice(price).length));
  }, [rows]);
  return useMemo(() => {
    const headPx = isPhone ? 124 : 236;
    const cellPx = Math.max(54, longest * 8.2 + 8, (width - headPx) / dates.length);
    const days = dates.map((date) => {
      const isWeekend = [5, 6].includes(new Date(date).getUTCDay());
      return `${date < today ? 'past' : date === today ? 'today' : ''} ${isWeekend ? 'weekend' : ''}`;
    });
    const labels = dates.map((date) => formatDate(date, 'weekday'));
    const style = { width: headPx + cellPx * dates.length, '--head': `${headPx}px`, '--cell': `${cellPx}px` };
    return { dates, days, labels, headPx, cellPx, typePx: isTouch ? 48 : 44, planPx: isTouch ? 44 : 32, style };
  }, [isPhone, isTouch, longest, width, dates, today]);
}

/** What is in sight. */
export function useSight(frame: { current: HTMLDivElement | null }, rows: Row[], sizes: Sizes) {
  const { dates, headPx, cellPx, typePx, planPx } = sizes;
  const optionsOf = (count: number, fixedPx: number) => ({
    count,
    getScrollElement: () => frame.current,
    paddingStart: fixedPx,
    scrollPaddingStart: fixedPx,
    // Both directions change in one render.
    useFlushSync: false,
  });
  const vertical = useVirtualizer({
    ...optionsOf(rows.length, HEADER_PX),
    estimateSize: (index) => (rows[index]?.plan === null ? typePx : planPx),
  });
  const horizontal = useVirtualizer({
    ...optionsOf(dates.length, headPx),
    horizontal: true,
    estimateSize: () => cellPx,
  });
  useLayoutEffect(() => {
    vertical.measure();
    horizontal.measure();
  }, [sizes, rows]);
  const indexes = horizontal.getVirtualIndexes().join(' ');
  return {
    items: vertical.getVirtualItems(),
    // The same array while the same columns are in sight, so that rows that stay are not rendered again.
    columns: useMemo(() => indexes.split(' ').filter(Boolean).map(Number), [indexes]),
    firstColumn: Math.floor((horizontal.scrollOffset ?? 0) / cellPx),
    height: vertical.getTotalSize(),
    scrollTo: ({ row, column }: Place) => {
      vertical.scrollToIndex(row);
      if (column >= 0) horizontal.scrollToIndex(column);
    },
  };
}
