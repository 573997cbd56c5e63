import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks';
import {
  defaultRangeExtractor,
  observeElementRect,
  type Range,
  type Rect,
  useVirtualizer,
  type Virtualizer,
} from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useMemo, useRef } from 'react';
import { formatDate } from '../../ui/format.ts';
import classes from './calendar.module.css';
import type { Editing } from './editing.ts';
import { GridRow, Header, House } from './grid-rows.tsx';
import { areaOf, type CalendarData, type Place, type Row, shortPrice } from './nights.ts';

/** Height of the dates and of the house, as the styles have it. */
const HEADER_PX = 84;
const FAR = Number.MAX_SAFE_INTEGER;
/** Steps of the keys that move the focus, in rows and columns. */
const MOVES: Record<string, [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -FAR],
  End: [0, FAR],
};

interface Props {
  calendar: CalendarData;
  rows: Row[];
  dates: string[];
  editing: Editing;
  /** Begins a price for the selection, in the field below the grid. */
  startTyping: (text: string) => void;
  openNight: (place: Place) => void;
  /** True if the person may change what is set for the whole row. */
  mayOpen: (row: Row) => boolean;
  openRow: (row: Row) => void;
}

/** Rooms and prices by night, as a grid of which only what is in sight is rendered. */
export function Grid({ calendar, rows, dates, editing, startTyping, openNight, mayOpen, openRow }: Props) {
  const { selection, select, draft, nights } = editing;
  const { anchor, focus } = selection;
  const frame = useRef<HTMLDivElement>(null);
  const hasFocus = useRef(false);
  const size = useElementSize();
  const lines = useLines(calendar.today, rows, dates, size.width);
  const { items, columns, firstColumn, height, scrollTo } = useSight(frame, rows, lines, focus);
  useLayoutEffect(() => {
    if (!hasFocus.current) return;
    scrollTo(focus);
    focusGrid();
  }, [focus.row, focus.column]);

  const move = (row: number, column: number, isExtending: boolean) => {
    const place = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(isExtending ? 0 : -1, Math.min(dates.length - 1, column)),
    };
    hasFocus.current = true;
    select(isExtending ? anchor : place, place);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = MOVES[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step !== undefined) {
      const column = event.key === 'Home' ? 0 : focus.column + step[1];
      move(focus.row + step[0], column, event.shiftKey && focus.column >= 0);
    } else if (/^\d$/.test(event.key) && nights.length > 0) startTyping(event.key);
    else if (event.key === 'Enter' && focus.column >= 0 && rows[focus.row]?.plan === null) openNight(focus);
    else if (event.key === 'Enter' && nights.length > 0) startTyping('');
    else return;
    event.preventDefault();
  };
  const onMouse = (event: MouseEvent) => {
    const place = placeOf(event.target);
    const isDragged = event.type === 'mouseover';
    if (place === null || event.button > 0 || (isDragged && event.buttons !== 1)) return;
    move(place.row, place.column, isDragged || event.shiftKey);
  };
  const onClick = ({ target }: MouseEvent) => {
    const place = placeOf(target);
    const row = rows[place?.row ?? -1];
    if (place === null || row === undefined) return;
    if (place.column < 0) openRow(row);
    else if (row.plan === null) openNight(place);
  };
  const area = areaOf(selection);
  return (
    <div
      ref={useMergedRef(frame, size.ref)}
      className={classes.grid}
      role="grid"
      aria-label="Rooms and prices by night"
      aria-multiselectable="true"
      aria-rowcount={rows.length + 2}
      aria-colcount={dates.length + 1}
      onKeyDown={onKeyDown}
      onMouseDown={onMouse}
      onMouseOver={onMouse}
      onClick={onClick}
      onFocus={() => (hasFocus.current = true)}
      onBlur={() => (hasFocus.current = false)}
    >
      <div role="presentation" className={classes.canvas} style={{ ...lines.style, height }}>
        <div role="presentation" className={classes.header}>
          <Header lines={lines} columns={columns} firstColumn={firstColumn} />
          <House lines={lines} columns={columns} types={calendar.room_types} />
        </div>
        {items.map(({ index, start, size: rowPx }) => {
          const row = rows[index];
          const isIn = index >= area.top && index <= area.bottom && area.left >= 0;
          return (
            row && (
              <GridRow
                key={index}
                index={index}
                top={start + HEADER_PX}
                height={rowPx}
                type={row.type}
                plan={row.plan}
                lines={lines}
                columns={columns}
                first={isIn ? area.left : FAR}
                last={isIn ? area.right : -FAR}
                focus={focus.row === index ? focus.column : null}
                draft={isIn && row.plan !== null ? draft : null}
                opens={mayOpen(row)}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** Gives the focus to the cell that had it. */
export function focusGrid(): void {
  document.querySelector<HTMLElement>('[role="grid"] [tabindex="0"]')?.focus({ preventScroll: true });
}

function placeOf(target: EventTarget): Place | null {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-cell]') : null;
  const [row = 0, column = 0] = (cell?.dataset['cell'] ?? '').split(' ').map(Number);
  return cell && { row, column };
}

const AT_ONCE = { getInitialValueInEffect: false };

export type Lines = ReturnType<typeof useLines>;

/** Sizes of the grid, and what is the same for all cells of a night. */
function useLines(today: string, rows: Row[], dates: string[], width: number) {
  const isPhone = useMediaQuery('(max-width: 48em)', false, AT_ONCE);
  const isTouch = useMediaQuery('(pointer: coarse)', false, AT_ONCE);
  const longest = useMemo(() => {
    const prices = new Set(rows.flatMap(({ plan }) => plan?.prices ?? []));
    return Math.max(0, ...[...prices].map((price) => shortPrice(price).length));
  }, [rows]);
  return useMemo(() => {
    const headPx = isPhone ? 124 : 236;
    const cellPx = Math.max(54, longest * 7.6 + 10, (width - headPx) / dates.length);
    const days = dates.map((date) => {
      const isWeekend = [5, 6].includes(new Date(date).getUTCDay());
      return `${date < today ? 'past' : date === today ? 'today' : ''} ${isWeekend ? 'weekend' : ''}`;
    });
    const labels = dates.map((date) => formatDate(date, 'weekday'));
    const style = { width: headPx + cellPx * dates.length, '--head': `${headPx}px`, '--cell': `${cellPx}px` };
    return { dates, days, labels, headPx, cellPx, typePx: isTouch ? 48 : 44, planPx: isTouch ? 44 : 32, style };
  }, [isPhone, isTouch, longest, width, dates, today]);
}

/** What is in sight beside the names and below the dates, and the cell that has the focus, wherever it is. */
function useSight(frame: { current: HTMLDivElement | null }, rows: Row[], lines: Lines, focus: Place) {
  const { dates, headPx, cellPx, typePx, planPx } = lines;
  const optionsOf = (count: number, index: number) => ({
    count,
    getScrollElement: () => frame.current,
    observeElementRect: (instance: Virtualizer<HTMLDivElement, Element>, tell: (rect: Rect) => void) =>
      observeElementRect(instance, ({ width, height }) => tell({ width: width - headPx, height: height - HEADER_PX })),
    overscan: 1,
    // Both directions change in one render.
    useFlushSync: false,
    rangeExtractor: (range: Range) => {
      const inSight = defaultRangeExtractor(range);
      return index < 0 || inSight.includes(index) ? inSight : [...inSight, index].sort((a, b) => a - b);
    },
  });
  const vertical = useVirtualizer({
    ...optionsOf(rows.length, focus.row),
    estimateSize: (index) => (rows[index]?.plan === null ? typePx : planPx),
  });
  const horizontal = useVirtualizer({
    ...optionsOf(dates.length, focus.column),
    horizontal: true,
    estimateSize: () => cellPx,
  });
  useLayoutEffect(() => {
    vertical.measure();
    horizontal.measure();
  }, [lines, rows]);
  const indexes = horizontal.getVirtualIndexes().join(' ');
  return {
    items: vertical.getVirtualItems(),
    // The same array while the same columns are in sight, so that rows that stay are not rendered again.
    columns: useMemo(() => indexes.split(' ').filter(Boolean).map(Number), [indexes]),
    firstColumn: horizontal.range?.startIndex ?? 0,
    height: vertical.getTotalSize() + HEADER_PX,
    scrollTo({ row, column }: Place) {
      vertical.scrollToIndex(row);
      if (column >= 0) horizontal.scrollToIndex(column);
    },
  };
}
