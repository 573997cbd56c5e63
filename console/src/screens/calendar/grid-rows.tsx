import { type ComponentProps, memo, type ReactNode, useMemo } from 'react';
import { formatDate, plural } from '../../ui/format.ts';
import classes from './calendar.module.css';
import { type Plan, type RoomType, shortPrice } from './nights.ts';
import type { Lines } from './sight.ts';

const weekday = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', weekday: 'short' });
const month = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', month: 'long', year: 'numeric' });

interface Sight {
  lines: Lines;
  /** Columns that are rendered. */
  columns: number[];
}

interface LineProps extends Sight, Omit<ComponentProps<'div'>, 'children'> {
  head: ReactNode;
  cellOf: (column: number) => ComponentProps<'div'> & { 'data-state'?: string | undefined; 'data-cell'?: string };
}

function Line({ lines: { days, headPx, cellPx }, columns, head, cellOf, ...row }: LineProps) {
  return (
    <div role="row" {...row}>
      {head}
      {columns.map((column) => {
        const { style, ...cell } = cellOf(column);
        return (
          <div
            key={column}
            role="gridcell"
            aria-colindex={column + 2}
            data-day={days[column]}
            className={classes.cell}
            style={{ left: headPx + column * cellPx, ...style }}
            {...cell}
          />
        );
      })}
    </div>
  );
}

/** The dates. The corner has the month of the first one in sight. */
export function Header({ lines, columns, firstColumn }: Sight & { firstColumn: number }) {
  const { dates, days } = lines;
  return (
    <Line
      lines={lines}
      columns={columns}
      aria-rowindex={1}
      className={classes.dates}
      head={
        <div role="columnheader" aria-colindex={1} className={classes.head}>
          <b>{month.format(new Date(dates[firstColumn] ?? 0))}</b>
        </div>
      }
      cellOf={(column) => {
        const date = dates[column] ?? '';
        const day = new Date(date).getUTCDate();
        const isToday = days[column]?.includes('today') === true;
        return {
          role: 'columnheader',
          children: (
            <>
              <span className={classes.quiet}>{isToday ? 'Today' : weekday.format(new Date(date))}</span>{' '}
              <b>{day === 1 ? formatDate(date) : day}</b>
            </>
          ),
        };
      }}
    />
  );
}

/** Share of all rooms that are held, as a strip of heat. */
export function House({ lines, columns, types }: Sight & { types: RoomType[] }) {
  const rooms = types.reduce((sum, type) => sum + type.physical_capacity, 0);
  const held = useMemo(
    () => lines.dates.map((_, index) => types.reduce((sum, type) => sum + (type.held[index] ?? 0), 0)),
    [lines.dates, types],
  );
  return (
    <Line
      lines={lines}
      columns={columns}
      aria-rowindex={2}
      className={classes.house}
      head={<Head name="All rooms" aside={plural(rooms, 'room')} />}
      cellOf={(column) => {
        const share = rooms === 0 ? 0 : (held[column] ?? 0) / rooms;
        const percent = Math.round(share * 100);
        return {
          'aria-label': `${lines.labels[column]}: ${percent}%, ${held[column]} of ${plural(rooms, 'room')} held`,
          'data-state': share > 1 ? 'over' : undefined,
          style: { '--heat': `${Math.min(1, share) * 44}%` } as object,
          children: `${percent}%`,
        };
      }}
    />
  );
}

interface RowProps extends Sight {
  index: number;
  top: number;
  height: number;
  type: RoomType;
  plan: Plan | null;
  /** First and last selected column. */
  first: number;
  last: number;
  /** Column of the focus, -1 for the name, or null if it is in another row. */
  focus: number | null;
  /** Price that is being typed for the selected nights. */
  draft: string | null;
  /** The name is a button. */
  opens: boolean;
}

/** The rooms of a type, or the prices of a plan, night by night. */
export const GridRow = memo(function GridRow(props: RowProps) {
  const { index, top, height, type, plan, lines, columns, first, last, focus, draft, opens } = props;
  const [name, cellOf] = plan === null ? [type.name, roomsOf(type)] : [`${type.name}, ${plan.name}`, priceOf(plan)];
  const tabIndex = focus === -1 ? 0 : -1;
  const head =
    plan === null
      ? { name: type.name, aside: plural(type.physical_capacity, 'room') }
      : {
          name: plan.name,
          aside: `${plan.min_nights > 1 ? `${plan.min_nights}+ nights, ` : ''}${shortPrice(plan.base_price)}`,
        };
  return (
    <Line
      lines={lines}
      columns={columns}
      aria-rowindex={index + 3}
      className={classes.row}
      data-kind={plan === null ? 'type' : 'plan'}
      style={{ top, height }}
      head={<Head {...head} tabIndex={tabIndex} cell={opens ? `${index} -1` : undefined} />}
      cellOf={(column) => {
        const isSelected = column >= first && column <= last;
        const { state, words, content } = cellOf(column);
        const isTyped = isSelected && draft !== null;
        return {
          'aria-selected': isSelected,
          'aria-label': `${name}, ${lines.labels[column]}: ${words}`,
          tabIndex: focus === column ? 0 : -1,
          'data-cell': `${index} ${column}`,
          'data-state': isTyped ? 'typed' : state,
          children: isTyped ? draft : content,
        };
      }}
    />
  );
});

/** Name of a row. With `cell`, it is a button. */
function Head({
  name,
  aside,
  cell,
  tabIndex,
}: {
  name: string;
  aside: string;
  cell?: string | undefined;
  tabIndex?: number;
}) {
  const content = (
    <>
      <span className={classes.name}>{name}</span> <span className={classes.quiet}>{aside}</span>
    </>
  );
  return (
    <div
      role="rowheader"
      aria-colindex={1}
      className={classes.head}
      tabIndex={cell === undefined ? tabIndex : undefined}
    >
      {cell === undefined ? (
        content
      ) : (
        <button type="button" className={classes.head} tabIndex={tabIndex} data-cell={cell}>
          {content}
        </button>
      )}
    </div>
  );
}

const roomsOf =
  ({ physical_capacity: capacity, held: all }: RoomType) =>
  (column: number) => {
    const held = all[column] ?? 0;
    const left = capacity - held;
    const state = left < 0 ? 'over' : left === 0 ? 'full' : 'free';
    const text = { over: `${-left} over`, full: 'Full', free: `${left} left` }[state];
    const words = `${text} ${held}/${capacity} held${left < 0 ? ', oversold' : ''}`;
    const content = (
      <>
        <b>{text}</b> <span className={classes.quiet}>{`${held}/${capacity}`}</span>
      </>
    );
    return { state, words, content };
  };

const priceOf =
  ({ prices, is_own, closed }: Plan) =>
  (column: number) => {
    const content = shortPrice(prices[column] ?? '');
    const kind = is_own[column] ? 'own' : 'base';
    const isClosed = closed[column] === true;
    return {
      state: isClosed ? `${kind} closed` : kind,
      words: `${content}, ${kind} price${isClosed ? ', closed' : ''}`,
      content,
    };
  };
