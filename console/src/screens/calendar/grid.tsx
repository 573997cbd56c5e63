import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, type MouseEvent, useLayoutEffect, useMemo, useRef } from 'react';
import { formatDate } from '../../ui/format.ts';
import classes from './calendar.module.css';
import { type Editing, focusPrice, type Place } from './editing.ts';
import { type CalendarData, shortPrice } from './nights.ts';
import { datesLine, houseLine, type Line, type Row } from './rows.tsx';

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
const initially = { getInitialValueInEffect: false };

interface Props {
  calendar: CalendarData;
  editing: Editing;
  open: (place: Place) => void;
  mayOpen: (row: Row) => boolean;
}

/** Rooms and prices by night, as a grid of which only the rows and nights in sight are rendered. */
export function Grid({ calendar, editing, open, mayOpen }: Props) {
  const { rows, dates, focus, area, select, draft, nights } = editing;
  const { today, room_types: types } = calendar;
  const frame = useRef<HTMLDivElement>(null);
  const planPx = useMediaQuery('(pointer: coarse)', false, initially) ? TYPE_PX : 32;
  const [headPx, leastPx] = useMediaQuery('(max-width: 48em)', false, initially) ? [96, 52] : [236, 62];
  const rowsInSight = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => (rows[index]?.plan === null ? TYPE_PX : planPx),
    paddingStart: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
  });
  useLayoutEffect(() => rowsInSight.measure(), [rows, planPx]);
  const columns = useMemo(() => columnsOf(dates, today), [dates, today]);
  const above = useMemo(() => datesLine(dates, today), [dates, today]);
  const house = useMemo(() => houseLine(types), [types]);
  const pricePx = useMemo(() => {
    const prices = new Set(types.flatMap((type) => type.rate_plans.flatMap((plan) => plan.prices)));
    return Math.max(0, ...[...prices].map((price) => shortPrice(price).length * 7.6 + 6));
  }, [types]);
  const nightPx = Math.max(leastPx, pricePx, ((frame.current?.clientWidth ?? 0) - headPx) / dates.length);
  const nightsInSight = useVirtualizer({
    horizontal: true,
    count: dates.length,
    getScrollElement: () => frame.current,
    estimateSize: () => nightPx,
    paddingStart: headPx,
    scrollPaddingStart: headPx,
  });
  useLayoutEffect(() => nightsInSight.measure(), [nightPx, headPx]);
  useLayoutEffect(() => {
    rowsInSight.scrollToIndex(focus.row);
    if (focus.column >= 0) nightsInSight.scrollToIndex(focus.column);
  }, [focus.row, focus.column]);
  const seen = nightsInSight.getVirtualItems();
  const [from = 0, to = -1] = [seen[0]?.index, seen.at(-1)?.index];

  const move = (row: number, column: number, isExtending: boolean) => {
    const first = isExtending || column === -Infinity ? 0 : -1;
    select({ row: Math.max(0, row), column: Math.max(first, column) }, isExtending);
  };
  const opens = ({ row, column }: Place) => column < 0 || rows[row]?.plan === null;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = MOVES[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) move(focus.row + step[0], focus.column + step[1], event.shiftKey && focus.column >= 0);
    else if (event.key === 'Enter' && opens(focus)) open(focus);
    else if (nights.length > 0 && /^(?:\d|Enter)$/.test(event.key)) {
      editing.type(event.key.replace('Enter', ''));
      focusPrice();
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
  const shown = { columns, from, to, before: from * nightPx };
  const size = {
    height: rowsInSight.getTotalSize(),
    width: nightsInSight.getTotalSize(),
    '--head': `${headPx}px`,
    '--night': `${nightPx}px`,
  };
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
      aria-colcount={dates.length + 1}
      onKeyDown={onKeyDown}
      onMouseDown={onMouse}
      onMouseOver={onMouse}
      onClick={onClick}
    >
      <div role="presentation" className={classes.lines} style={size}>
        <div role="presentation" className={classes.header}>
          <GridRow line={above} index={-2} top={0} height={DATES_PX} {...shown} />
          <GridRow line={house} index={-1} top={DATES_PX} height={HOUSE_PX} {...shown} />
        </div>
        {rowsInSight.getVirtualItems().map(({ index, start, size: height }) => {
          const row = rows[index];
          const isIn = index >= area.top && index <= area.bottom && area.left >= 0;
          return (
            row && (
              <GridRow
                key={index}
                line={row}
                top={start}
                {...{ index, height, ...shown }}
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

interface RowProps {
  line: Line;
  /** Index of the row. Negative: a line above the rows. */
  index: number;
  top: number;
  height: number;
  columns: { label: string; day: string }[];
  /** Nights in sight, and the width in pixels of those before them. */
  from: number;
  to: number;
  before: number;
  /** Nights that are selected. */
  first?: number;
  last?: number;
  /** Column of the focus, -1 for the name. Left out if it is in another row. */
  focus?: number | undefined;
  draft?: string | null;
  opens?: boolean;
}

const GridRow = memo(function GridRow(props: RowProps) {
  const { line, index, top, height, columns, from, to, before } = props;
  const { first = 0, last = -1, focus, draft = null, opens = false } = props;
  const [headRole, cellRole] = line.kind === 'dates' ? ['columnheader', 'columnheader'] : ['rowheader', 'gridcell'];
  return (
    <div role="row" aria-rowindex={index + 3} className={classes.line} data-kind={line.kind} style={{ top, height }}>
      <div
        id={cellId(index, -1)}
        role={headRole}
        aria-colindex={1}
        aria-haspopup={opens ? 'dialog' : undefined}
        className={classes.head}
        data-focus={focus === -1 || undefined}
        style={{ marginRight: before }}
      >
        {line.kind === 'plan' ? <span>{line.name}</span> : <b>{line.name}</b>}{' '}
        <small className="mantine-visible-from-sm">{line.aside}</small>
      </div>
      {columns.slice(from, to + 1).map(({ label, day }, at) => {
        const column = from + at;
        const isSelected = column >= first && column <= last;
        const isTyped = isSelected && draft !== null;
        const { state, words, content, heat } = line.cellOf(column);
        return (
          <div
            key={column}
            id={cellId(index, column)}
            role={cellRole}
            aria-colindex={column + 2}
            aria-selected={isSelected}
            aria-label={words && `${line.fullName}, ${label}: ${words}`}
            data-focus={focus === column || undefined}
            data-day={day}
            data-state={isTyped ? 'typed' : state}
            className={classes.cell}
            style={heat ? { backgroundColor: heat } : undefined}
          >
            {isTyped ? draft : content}
          </div>
        );
      })}
    </div>
  );
});

/** What is the same for all cells of a night. */
function columnsOf(dates: string[], today: string) {
  return dates.map((date) => {
    const isWeekend = [5, 6].includes(new Date(date).getUTCDay());
    const day = `${date < today ? 'past' : date === today ? 'today' : ''} ${isWeekend ? 'weekend' : ''}`;
    return { label: formatDate(date, 'weekday'), day };
  });
}

function cellId(row: number, column: number): string {
  return `cell_${row}_${column}`;
}

function placeOf(target: EventTarget): Place | null {
  const cell = target instanceof Element ? target.closest('[id^="cell_"]') : null;
  const [row = -1, column = -1] = (cell?.id ?? '').split('_').slice(1).map(Number);
  return row < 0 ? null : { row, column };
}
