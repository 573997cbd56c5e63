import { memo } from 'react';
import classes from './calendar.module.css';
import type { Line } from './rows.tsx';

interface Props {
  line: Line;
  /** Index of the row. Negative: a line above the rows. */
  index: number;
  top: number;
  height: number;
  columns: { label: string; day: string }[];
  first?: number;
  last?: number;
  /** Column of the focus, -1 for the name. Left out if it is in another row. */
  focus?: number | undefined;
  draft?: string | null;
  opens?: boolean;
}

/** Id of a cell of the grid. */
export const cellId = (row: number, column: number) => `cell_${row}_${column}`;

/** A line of the grid, night by night. */
export const GridRow = memo(function GridRow(props: Props) {
  const { line, index, top, height, columns, first = 0, last = -1, focus, draft = null, opens = false } = props;
  const [headRole, cellRole] = line.kind === 'dates' ? ['columnheader', 'columnheader'] : ['rowheader', 'gridcell'];
  return (
    <div role="row" aria-rowindex={index + 3} className={classes.line} data-kind={line.kind} style={{ top, height }}>
      <div
        id={cellId(index, -1)}
        role={headRole}
        aria-haspopup={opens ? 'dialog' : undefined}
        className={classes.head}
        data-focus={focus === -1 || undefined}
      >
        {line.kind === 'plan' ? <span>{line.name}</span> : <b>{line.name}</b>}{' '}
        <span className={`${classes.quiet} mantine-visible-from-sm`}>{line.aside}</span>
      </div>
      {columns.map(({ label, day }, column) => {
        const isSelected = column >= first && column <= last;
        const isTyped = isSelected && draft !== null;
        const { state, words, content, heat } = line.cellOf(column);
        return (
          <div
            key={column}
            id={cellId(index, column)}
            role={cellRole}
            aria-selected={isSelected}
            aria-label={words && `${line.fullName}, ${label}: ${words}`}
            data-focus={focus === column || undefined}
            data-day={day}
            data-state={isTyped ? 'typed' : state}
            className={classes.cell}
            style={heat === undefined ? undefined : ({ '--heat': heat } as object)}
          >
            {isTyped ? draft : content}
          </div>
        );
      })}
    </div>
  );
});
