import { useElementSize, useMergedRef } from '@mantine/hooks';
import { type KeyboardEvent, type MouseEvent, type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import classes from './calendar.module.css';
import type { Editing, Place } from './editing.ts';
import { cellId, GridRow } from './grid-row.tsx';
import type { CalendarData } from './nights.ts';
import { datesLine, houseLine, type Row } from './rows.tsx';
import { DATES_PX, HOUSE_PX, useSight, useSizes } from './sight.ts';

/** Steps of the keys that move the focus, in rows and columns. */
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

interface Props {
  calendar: CalendarData;
  rows: Row[];
  dates: string[];
  editing: Editing;
  /** Field for the price of the selection. */
  field: RefObject<HTMLInputElement | null>;
  /** Opens a night, or what is set for the whole row. */
  open: (place: Place) => void;
  mayOpen: (row: Row) => boolean;
}

/** Rooms and prices by night, as a grid of which only what is in sight is rendered. */
export function Grid({ calendar, rows, dates, editing, field, open, mayOpen }: Props) {
  const { anchor, focus, area, select, draft, nights } = editing;
  const { today, room_types: types } = calendar;
  const frame = useRef<HTMLDivElement>(null);
  const size = useElementSize();
  const sizes = useSizes(today, rows, dates, size.width);
  const { items, columns, firstColumn, height, scrollTo } = useSight(frame, rows, sizes);
  useLayoutEffect(() => scrollTo(focus), [focus.row, focus.column]);
  const above = useMemo(() => datesLine(dates, today, firstColumn), [dates, today, firstColumn]);
  const house = useMemo(() => houseLine(types), [types]);

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
  return (
    <div
      ref={useMergedRef(frame, size.ref)}
      className={classes.grid}
      role="grid"
      tabIndex={0}
      aria-label="Rooms and prices by night"
      aria-activedescendant={cellId(focus.row, focus.column)}
      aria-multiselectable="true"
      aria-rowcount={rows.length + 2}
      aria-colcount={dates.length + 1}
      onKeyDown={onKeyDown}
      onMouseDown={onMouse}
      onMouseOver={onMouse}
      onClick={onClick}
    >
      <div role="presentation" style={{ ...sizes.style, position: 'relative', height }}>
        <div role="presentation" className={classes.header}>
          <GridRow line={above} index={-2} top={0} height={DATES_PX} {...{ sizes, columns }} />
          <GridRow line={house} index={-1} top={DATES_PX} height={HOUSE_PX} {...{ sizes, columns }} />
        </div>
        {items.map(({ index, start, size: rowPx }) => {
          const row = rows[index];
          const isIn = index >= area.top && index <= area.bottom && area.left >= 0;
          return (
            row && (
              <GridRow
                key={index}
                line={row}
                index={index}
                top={start}
                height={rowPx}
                {...{ sizes, columns }}
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

/** Gives the focus to the grid. */
export function focusGrid(): void {
  document.querySelector<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
}

function placeOf(target: EventTarget): Place | null {
  const cell = target instanceof Element ? target.closest('[id^="cell_"]') : null;
  const [row = -1, column = -1] = (cell?.id ?? '').split('_').slice(1).map(Number);
  return row < 0 ? null : { row, column };
}
