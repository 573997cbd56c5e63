import { Button } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { Empty } from './empty.tsx';
import { Failure } from './failure.tsx';
import classes from './table.module.css';
import { Waiting } from './waiting.tsx';

export interface Column<Row> {
  label: string;
  /** Stands in the head instead of the label. */
  head?: ReactNode;
  /** Numbers stand to the right. */
  isNumber?: boolean;
  /** Not shown on a phone. */
  isWideOnly?: boolean;
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
  /** Rows with the same text one after the other stand below it. */
  groupOf?: (row: Row) => string;
  /** Stands at the end of the head of a group. */
  groupAside?: (group: string) => ReactNode;
}

/** A quiet table whose rows open by a press anywhere. */
export function Table<Row>({ label, columns, rows, keyOf, onOpen, openKey, groupOf, groupAside }: TableProps<Row>) {
  const opener = onOpen && columns.find(({ isControl }) => !isControl);
  const startsGroup = (index: number) => {
    const [before, row] = [rows[index - 1], rows[index]];
    return row !== undefined && groupOf?.(row) !== (before && groupOf?.(before));
  };
  return (
    <div className={classes.frame}>
      <table className={classes.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} data-number={column.isNumber} data-wide={column.isWideOnly}>
                {column.head ?? column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Fragment key={keyOf(row)}>
              {startsGroup(index) && (
                <tr>
                  <th className={classes.group} colSpan={columns.length} scope="rowgroup">
                    {groupOf?.(row)} {groupAside?.(groupOf?.(row) ?? '')}
                  </th>
                </tr>
              )}
              <tr
                data-key={keyOf(row)}
                data-opens={onOpen !== undefined || undefined}
                data-open={openKey === keyOf(row) || undefined}
                onClick={() => onOpen?.(row)}
              >
                {columns.map((column) => (
                  <td
                    key={column.label}
                    data-number={column.isNumber}
                    data-wide={column.isWideOnly}
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
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** First cell of a row whose second column has no room on a phone: there it stands below. */
export function TwoLines({ first, second }: { first: string; second: string }) {
  return (
    <>
      {first}
      <span className={classes.second}>{second}</span>
    </>
  );
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
  empty: { title: string; text?: ReactNode; action?: ReactNode };
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
