import { memo } from 'react';
import { formatDate } from '../../ui/format.ts';
import classes from './calendar.module.css';
import type { Line } from './rows.tsx';
import { DATES_PX, type Sizes } from './sight.ts';

const weekday = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', weekday: 'short' });
const month = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', month: 'long', year: 'numeric' });

interface Sight {
  sizes: Sizes;
  /** Columns that are rendered. */
  columns: number[];
}

/** The dates. The corner has the month of the first one in sight. */
export function Dates({ sizes, columns, firstColumn }: Sight & { firstColumn: number }) {
  const { dates, days, headPx, cellPx } = sizes;
  return (
    <div role="row" aria-rowindex={1} className={classes.line} style={{ height: DATES_PX }}>
      <div role="columnheader" aria-colindex={1} className={classes.head}>
        <b>{month.format(new Date(dates[firstColumn] ?? 0))}</b>
      </div>
      {columns.map((column) => {
        const date = dates[column] ?? '';
        const day = new Date(date).getUTCDate();
        return (
          <div
            key={column}
            role="columnheader"
            aria-colindex={column + 2}
            data-day={days[column]}
            className={classes.cell}
            style={{ left: headPx + column * cellPx }}
          >
            <span className={classes.quiet}>
              {days[column]?.includes('today') ? 'Today' : weekday.format(new Date(date))}
            </span>{' '}
            <b>{day === 1 ? formatDate(date) : day}</b>
          </div>
        );
      })}
    </div>
  );
}

interface RowProps extends Sight {
  line: Line;
  /** Index of the row. -1: the house, which stands above the rows. */
  index: number;
  top: number;
  height: number;
  /** First and last selected column. */
  first?: number;
  last?: number;
  /** Column of the focus, -1 for the name. Left out if it is in another row. */
  focus?: number | undefined;
  /** Price that is being typed for the selected nights. */
  draft?: string | null;
  /** The name opens a dialog. */
  opens?: boolean;
}

/** A line of the grid, night by night. */
export const GridRow = memo(function GridRow(props: RowProps) {
  const { line, index, top, height, columns, first = 0, last = -1, focus, draft = null, opens = false } = props;
  const { days, labels, headPx, cellPx } = props.sizes;
  return (
    <div role="row" aria-rowindex={index + 3} className={classes.line} data-kind={line.kind} style={{ top, height }}>
      <div
        role="rowheader"
        aria-colindex={1}
        aria-haspopup={opens ? 'dialog' : undefined}
        className={classes.head}
        tabIndex={focus === -1 ? 0 : -1}
        data-cell={`${index} -1`}
      >
        <span className={classes.name}>{line.name}</span>{' '}
        <span className={`${classes.quiet} mantine-visible-from-sm`}>{line.aside}</span>
      </div>
      {columns.map((column) => {
        const isSelected = column >= first && column <= last;
        const isTyped = isSelected && draft !== null;
        const { state, words, content, heat } = line.cellOf(column);
        return (
          <div
            key={column}
            role="gridcell"
            aria-colindex={column + 2}
            aria-selected={isSelected}
            aria-label={`${line.fullName}, ${labels[column]}: ${words}`}
            tabIndex={focus === column ? 0 : -1}
            data-cell={`${index} ${column}`}
            data-day={days[column]}
            data-state={isTyped ? 'typed' : state}
            className={classes.cell}
            style={{ left: headPx + column * cellPx, '--heat': heat } as object}
          >
            {isTyped ? draft : content}
          </div>
        );
      })}
    </div>
  );
});
