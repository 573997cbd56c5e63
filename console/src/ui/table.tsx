import { Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { Fragment, memo, type ReactNode, useState } from 'react';
import { Away, Empty, type EmptyProps, Loaded, type Query } from './loaded.tsx';
import classes from './table.module.css';

export interface Column<Row> {
  label: string;
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
  /** Controls of a group in its head, by its first row. */
  groupControl?: (row: Row) => ReactNode;
}

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, onOpen, openKey, step = 500, groupOf, groupControl } = props;
  const [steps, setSteps] = useState(1);
  const most = steps * step;
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
              <th key={column.label} {...placeOf(column)}>
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
                  <th colSpan={columns.length} scope="rowgroup">
                    <Group component="span" gap={4}>
                      <span style={{ flex: 1 }}>{groupOf?.(row)}</span>
                      {groupControl?.(row)}
                    </Group>
                  </th>
                </tr>
              )}
              <TableRow
                row={row}
                rowKey={keyOf(row)}
                columns={columns}
                onOpen={onOpen}
                isOpen={openKey === keyOf(row)}
              />
            </Fragment>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <Button variant="subtle" fullWidth onClick={() => setSteps(steps + 1)}>
          Show more, {most.toLocaleString()} of {rows.length.toLocaleString()} so far
        </Button>
      )}
    </div>
  );
}

function placeOf<Row>({ isNumber, isWideOnly, paper }: Column<Row>) {
  const width = isWideOnly && `mantine-visible-from-${isWideOnly === 'very' ? 'lg' : 'sm'}`;
  return { 'data-number': isNumber, className: paper ? PAPER[paper] : width || undefined };
}

const PAPER = { only: 'on-paper', never: 'off-paper' };

interface RowProps<Row> extends Pick<TableProps<Row>, 'columns' | 'onOpen'> {
  row: Row;
  rowKey: string;
  isOpen: boolean;
}

/** Drawn again only if something of it changes, on screens whose columns and `onOpen` stay the same. */
const TableRow = memo(DrawnRow) as typeof DrawnRow;

function DrawnRow<Row>({ row, rowKey, columns, onOpen, isOpen }: RowProps<Row>) {
  const opener = onOpen && columns.find(({ isControl }) => !isControl);
  const contentOf = (column: Column<Row>) =>
    column === opener ? (
      <UnstyledButton className={classes.open} fz="inherit" fw={600}>
        {column.cell(row)}
      </UnstyledButton>
    ) : (
      column.cell(row)
    );
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
          {...placeOf(column)}
          onClick={column.isControl ? (event) => event.stopPropagation() : undefined}
        >
          {contentOf(column)}
        </td>
      ))}
    </tr>
  );
}

/** First cell of a row whose second column has no room on a phone: there it stands below. */
export function TwoLines({ first, second }: { first: string; second: string | null }) {
  return (
    <Breaking>
      {first}
      <Text span display="block" hiddenFrom="sm" fz="xs" fw={400} c="dimmed">
        {second}
      </Text>
    </Breaking>
  );
}

const BREAKING = { display: 'block', minWidth: 120, overflowWrap: 'anywhere' } as const;

/** Text of somebody else. A long word of it breaks, so that it pushes no column out of sight. */
export function Breaking({ children }: { children: ReactNode }) {
  return <span style={BREAKING}>{children}</span>;
}

/** A name that a narrow table cuts, so that each row has one line. */
export function OneLine({ children }: { children: ReactNode }) {
  return (
    <Text inherit truncate maw={180}>
      {children}
    </Text>
  );
}

interface ListProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  /** Result of `useQuery(read(…))` or `useInfiniteQuery(readList(…))`. Of a search, its rows may still be those of what was typed before. */
  list: Query<Row[]> & {
    isPlaceholderData?: boolean;
    hasNextPage?: boolean;
    isFetchingNextPage?: boolean;
    fetchNextPage?: () => unknown;
  };
  empty: EmptyProps;
}

/** A list of the API as a table, with its skeleton, its error, its empty state and the next page. */
export function ListTable<Row>({ list, empty, ...table }: ListProps<Row>) {
  const { isPlaceholderData, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  return (
    <Loaded query={list}>
      {(rows) => (
        <>
          {isPlaceholderData && <Away />}
          {rows.length > 0 && <Table {...table} rows={rows} {...(fetchNextPage && { step: Infinity })} />}
          {rows.length === 0 && !hasNextPage && <Empty {...empty} />}
          {hasNextPage && (
            <Stack gap={8} align="center" mt="md">
              {rows.length === 0 && <p className="quiet">Nothing found among the newest 10,000 entries yet.</p>}
              <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage?.()}>
                {rows.length === 0 ? 'Search older entries' : 'Show more'}
              </Button>
            </Stack>
          )}
        </>
      )}
    </Loaded>
  );
}

export function focusedKey(): string | undefined {
  return focusedRow()?.dataset['key'];
}

export function focusInRow(selector: string): void {
  focusedRow()?.querySelector<HTMLElement>(selector)?.focus();
}

/** Moves the focus to the row before or after the one that has it, or to the first row. */
export function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('tr[data-opens]')];
  const index = rows.findIndex((row) => row === focusedRow());
  rows[index === -1 ? 0 : index + step]?.querySelector('button')?.focus();
}

function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('tr[data-key]') ?? null;
}
