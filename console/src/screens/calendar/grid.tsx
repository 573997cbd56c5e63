import { useElementSize, useMergedRef } from '@mantine/hooks';
import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useRef } from 'react';
import classes from './calendar.module.css';
import type { Editing } from './editing.ts';
import { GridRow, Header, House } from './grid-rows.tsx';
import { areaOf, type CalendarData, type Place, type Row } from './nights.ts';
import { HEADER_PX, useLines, useSight } from './sight.ts';

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
