import { Button } from '@mantine/core';
import { Fragment, memo, type ReactNode, useState } from 'react';
import { Empty } from './empty.tsx';
import { Failure } from './failure.tsx';
import classes from './table.module.css';
import { Waiting } from './waiting.tsx';

export interface Column<Row> {
  label: string;
  /** Numbers stand to the right. */
  isNumber?: boolean;
  /** Not shown on a phone. `very`: on no tablet either. */
  isWideOnly?: boolean | 'very';
  /** The column stands on paper alone, or never there. */
  paper?: 'only' | 'never';
  /** Its cells hold controls, so a press there does not open the row. */
  isControl?: boolean;
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** Opens a row. The first column then without controls holds a button with the row's name, for keyboards and screen readers. */
  onOpen?: (row: Row) => void;
  openKey?: string | undefined;
  /** Number of rows that are drawn at first. A press draws as many more. A list that comes page by page needs no such bound. */
  step?: number;
  /** Rows with the same text one after the other stand below it. */
  groupOf?: (row: Row) => string;
  /** Control of a group in its head, by its first row. */
  groupControl?: (row: Row) => ReactNode;
}

/** A quiet table whose rows open by a press anywhere. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  onOpen,
  openKey,
  step = 500,
  groupOf,
  groupControl,
}: TableProps<Row>) {
  const [most, setMost] = useState(step);
  const startsGroup = (index: number) => {
    const [before, row] = [rows[index - 1], rows[index]];
    return row !== undefined && groupOf?.(row) !== (before && groupOf?.(before));
  };
  return (
    <>
      <div className={classes.frame}>
        <table className={classes.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.label}
                  data-number={column.isNumber}
                  data-wide={column.isWideOnly}
                  data-paper={column.paper}
                >
                  {column.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, index) => (
              <Fragment key={keyOf(row)}>
                {startsGroup(index) && (
                  <tr className={classes.group}>
                    {groupControl && <td>{groupControl(row)}</td>}
                    <th colSpan={columns.length - (groupControl ? 1 : 0)} scope="rowgroup">
                      {groupOf?.(row)}
                    </th>
                  </tr>
                )}
                <TableRow
                  row={row}
                  rowKey={keyOf(row)}
                  columns={columns as Column<unknown>[]}
                  onOpen={onOpen as OpenRow | undefined}
                  isOpen={openKey === keyOf(row)}
                />
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <div className={classes.next}>
          <Button variant="default" onClick={() => setMost(most + step)}>
            Show more, {most.toLocaleString()} of {rows.length.toLocaleString()} so far
          </Button>
        </div>
      )}
    </>
  );
}

type OpenRow = (row: unknown) => void;

interface RowProps {
  row: unknown;
  rowKey: string;
  columns: Column<unknown>[];
  onOpen: OpenRow | undefined;
  isOpen: boolean;
}

/** Drawn again only if something of it changes, on screens whose columns and `onOpen` stay the same. */
const TableRow = memo(({ row, rowKey, columns, onOpen, isOpen }: RowProps) => {
  const opener = onOpen && columns.find(({ isControl }) => !isControl);
  return (
    <tr
      data-key={rowKey}
      data-opens={onOpen !== undefined || undefined}
      data-open={isOpen || undefined}
      onClick={() => onOpen?.(row)}
    >
      {columns.map((column) => (
        <td
          key={column.label}
          data-number={column.isNumber}
          data-wide={column.isWideOnly}
          data-paper={column.paper}
          onClick={column.isControl ? (event) => event.stopPropagation() : undefined}
        >
          {column === opener ? (
            <button type="button" className={classes.open}>
              {column.cell(row)}
            </button>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
});

/** First cell of a row whose second column has no room on a phone: there it stands below. */
export function TwoLines({ first, second }: { first: string; second: string | null }) {
  return (
    <>
      {first}
      <span className={classes.second}>{second}</span>
    </>
  );
}

interface EmptyWords {
  title: string;
  text?: ReactNode;
  action?: ReactNode;
}

interface ShortListProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  /** Result of `useQuery(read(…))`. */
  list: { data: Row[] | undefined; error: Error | null; refetch: () => unknown };
  empty: EmptyWords;
}

/** A list that the API answers as a whole, as a table, with its skeleton, its error and its empty state. */
export function ShortList<Row>({ list, empty, ...table }: ShortListProps<Row>) {
  if (list.data === undefined) {
    return list.error === null ? <Waiting /> : <Failure error={list.error} retry={list.refetch} />;
  }
  if (list.data.length === 0) {
    return (
      <Empty title={empty.title} action={empty.action}>
        {empty.text}
      </Empty>
    );
  }
  return <Table {...table} rows={list.data} />;
}

interface ListProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  /** Result of `useInfiniteQuery(readList(…))`. */
  list: {
    data: { pages: { results: Row[] }[] } | undefined;
    error: Error | null;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
    refetch: () => unknown;
  };
  empty: EmptyWords;
}

/** A long list of the API as a table, with its skeleton, its error, its empty state and the next page. */
export function ListTable<Row>({ list, empty, ...table }: ListProps<Row>) {
  if (list.data === undefined) {
    return list.error === null ? <Waiting /> : <Failure error={list.error} retry={list.refetch} />;
  }
  const rows = list.data.pages.flatMap(({ results }) => results);
  return (
    <>
      {rows.length > 0 && <Table {...table} rows={rows} step={Infinity} />}
      {rows.length === 0 && !list.hasNextPage && (
        <Empty title={empty.title} action={empty.action}>
          {empty.text}
        </Empty>
      )}
      {list.hasNextPage && (
        <div className={classes.next}>
          {rows.length === 0 && <p className={classes.searching}>Nothing found among the newest 10,000 entries yet.</p>}
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {rows.length === 0 ? 'Search older entries' : 'Show more'}
          </Button>
        </div>
      )}
    </>
  );
}
