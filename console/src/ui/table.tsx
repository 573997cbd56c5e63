import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
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
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** Opens a row. The first column then holds a button with the row's name, for keyboards and screen readers. */
  onOpen?: (row: Row) => void;
  openKey?: string | undefined;
}

/** A quiet table whose rows open by a press anywhere. */
export function Table<Row>({ label, columns, rows, keyOf, onOpen, openKey }: TableProps<Row>) {
  return (
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
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              data-opens={onOpen !== undefined || undefined}
              data-open={openKey === keyOf(row) || undefined}
              onClick={() => onOpen?.(row)}
            >
              {columns.map((column, index) => (
                <td
                  key={column.label}
                  data-number={column.isNumber}
                  data-wide={column.isWideOnly}
                  data-paper={column.paper}
                >
                  {index === 0 && onOpen ? (
                    <button type="button" className={classes.open}>
                      {column.cell(row)}
                    </button>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

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
      {rows.length > 0 && <Table {...table} rows={rows} />}
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
