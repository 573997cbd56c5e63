import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import { formatDate } from '../../ui/format.ts';
import classes from './calendar.module.css';
import type { Editing, Place } from './editing.ts';
import { cellId, GridRow } from './grid-row.tsx';
import { type CalendarData, shortPrice } from './nights.ts';
import { datesLine, houseLine, type Row } from './rows.tsx';

const MOVES: Record<string, [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};
const DATES_PX = 52;
const HOUSE_PX = 31;
const HEADER_PX = DATES_PX + HOUSE_PX + 1;
const TYPE_PX = 44;

interface Props {
  calendar: CalendarData;
  rows: Row[];
  dates: string[];
  editing: Editing;
  field: RefObject<HTMLInputElement | null>;
  open: (place: Place) => void;
  mayOpen: (row: Row) => boolean;
}

/** Rooms and prices by night, as a grid of which only the rows in sight are rendered. */
export function Grid({ calendar, rows, dates, editing, field, open, mayOpen }: Props) {
  const { anchor, focus, area, select, draft, nights } = editing;
  const { today, room_types: types } = calendar;
  const frame = useRef<HTMLDivElement>(null);
  const planPx = useMediaQuery('(pointer: coarse)', false, { getInitialValueInEffect: false }) ? TYPE_PX : 32;
  const sight = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => (rows[index]?.plan === null ? TYPE_PX : planPx),
    paddingStart: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
  });
  useLayoutEffect(() => sight.measure(), [rows, planPx]);
  useLayoutEffect(() => {
    sight.scrollToIndex(focus.row);
    const cell = focus.column >= 0 && document.getElementById(cellId(focus.row, focus.column));
    if (cell) cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [focus.row, focus.column]);
  const columns = useMemo(() => columnsOf(dates, today), [dates, today]);
  const above = useMemo(() => datesLine(dates, today), [dates, today]);
  const house = useMemo(() => houseLine(types), [types]);
  const cellPx = useMemo(() => {
    const prices = new Set(types.flatMap((type) => type.rate_plans.flatMap((plan) => plan.prices)));
    return Math.max(64, ...[...prices].map((price) => shortPrice(price).length * 8.2 + 8));
  }, [types]);

  const move = (row: number, column: number, isExtending: boolean) => {
    const place = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(isExtending || column === -Infinity ? 0 : -1, Math.min(dates.length - 1, column)),
    };
    select(place, isExtending ? anchor : place);
  };
  const opens = ({ row, column }: Place) => column < 0 || rows[row]?.plan === null;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = MOVES[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) move(focus.row + step[0], focus.column + step[1], event.shiftKey && focus.column >= 0);
    else if (event.key === 'Enter' && opens(focus)) open(focus);
    else if (nights.length > 0 && /^(?:\d|Enter)$/.test(event.key)) {
      editing.type(event.key.replace('Enter', ''));
      field.current?.focus();
    } else return;
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
    if (place && opens(place)) open(place);
  };
  const size = { height: sight.getTotalSize(), '--nights': dates.length, '--cell': `${cellPx}px` };
  return (
    <div
      ref={frame}
      className={classes.grid}
      role="grid"
      tabIndex={0}
      aria-label="Rooms and prices by night"
      aria-activedescendant={cellId(focus.row, focus.column)}
      aria-multiselectable="true"
      aria-rowcount={rows.length + 2}
      onKeyDown={onKeyDown}
      onMouseDown={onMouse}
      onMouseOver={onMouse}
      onClick={onClick}
    >
      <div role="presentation" className={classes.lines} style={size}>
        <div role="presentation" className={classes.header}>
          <GridRow line={above} index={-2} top={0} height={DATES_PX} columns={columns} />
          <GridRow line={house} index={-1} top={DATES_PX} height={HOUSE_PX} columns={columns} />
        </div>
        {sight.getVirtualItems().map(({ index, start, size: height }) => {
          const row = rows[index];
          const isIn = index >= area.top && index <= area.bottom && area.left >= 0;
          return (
            row && (
              <GridRow
                key={index}
                line={row}
                top={start}
                {...{ index, height, columns }}
                {...(isIn && { first: area.left, last: area.right, draft: row.plan && draft })}
                focus={focus.row === index ? focus.column : undefined}
                opens={mayOpen(row)}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** What is the same for all cells of a night. */
function columnsOf(dates: string[], today: string) {
  return dates.map((date) => {
    const isWeekend = [5, 6].includes(new Date(date).getUTCDay());
    const day = `${date < today ? 'past' : date === today ? 'today' : ''} ${isWeekend ? 'weekend' : ''}`;
    return { label: formatDate(date, 'weekday'), day };
  });
}

/** Gives the focus to the grid. */
export function focusGrid(): void {
  document.querySelector<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
}

function placeOf(target: EventTarget): Place | null {
  const cell = target instanceof Element ? target.closest('[id^="cell_"]') : null;
  const [row = -1, column = -1] = (cell?.id ?? '').split('_').slice(1).map(Number);
  return row < 0 ? null : { row, column };
}
