import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { find, guestFilters } from '../../api/find.ts';
import { readList } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { type CsvColumn, downloadCsv } from '../../ui/csv.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { DayRange } from '../../ui/day-range.tsx';
import { FilterSelect, PartnerSelect } from '../../ui/filter-select.tsx';
import { FindField } from '../../ui/find-field.tsx';
import { plural, useFormat } from '../../ui/format.ts';
import { DownloadIcon } from '../../ui/icons.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, ShortList } from '../../ui/table.tsx';
import { timesOf } from '../../ui/zoned-day.ts';
import { useMoves } from './moves.ts';
import { openOrdersQuery } from './board.tsx';
import { useOrdersSearch } from './search.ts';
import { type Order, partnerOf, STATUS, TYPES } from './statuses.ts';

const FINDING = {
  list: 'listStaffOrders' as const,
  topics: ['orders' as const],
  filtersOf: (text: string) => [{ external_order_id: text.slice(0, 150) }, ...guestFilters(text)],
  idOf: ({ order_id: id }: Order) => id,
};

/** All orders as a table, newest first, or those that are found for a text. */
export function OrderList() {
  const { search, change } = useOrdersSearch();
  const { timezone } = useMe().tenant;
  const { q, status, type, partner, from, to } = search;
  const filters = { status, order_type: type, credential_id: partner, ...timesOf(from, to, timezone) };
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const list = useInfiniteQuery({ ...readList(FINDING.list, filters, FINDING.topics), enabled: q === undefined });
  const found = useFound(q);
  const table = {
    label: 'Orders',
    columns: useColumns(),
    keyOf: FINDING.idOf,
    openKey: search.open,
    onOpen: ({ order_id: id }: Order) => change({ open: id }),
  };
  if (q !== undefined) {
    const empty = {
      title: `Nothing found for “${q}”.`,
      text: 'Names are found by how they begin, within 31 days. A phone number and an id must be whole. The number of a card finds an open order.',
    };
    return (
      <>
        <Count rows={found.data} />
        <ShortList {...table} list={found} empty={empty} />
      </>
    );
  }
  const empty = isFiltered
    ? {
        title: 'No order passes these filters',
        text: 'They may be combined, and then all of them must fit.',
        action: (
          <Link to="/orders" search={{ view: 'list' }}>
            Show all orders
          </Link>
        ),
      }
    : { title: 'No order has come yet', text: 'Orders of your partners appear here by themselves.' };
  return (
    <>
      <Count rows={list.data?.pages.flatMap(({ results }) => results)} hasMore={list.hasNextPage} />
      <ListTable {...table} list={list} empty={empty} />
    </>
  );
}

/** The orders that are found for a text. The API does not search the numbers of cards, so only open orders are found by them. */
function useFound(q: string | undefined) {
  const found = useQuery(find(FINDING, q));
  const { data: open } = useQuery(openOrdersQuery);
  const number = q?.replace('#', '').toUpperCase();
  const numbered = open?.results.filter((order) => order.number === number) ?? [];
  const others = found.data?.filter(({ order_id: id }) => numbered.every((order) => order.order_id !== id));
  return { ...found, data: others && [...numbered, ...others] };
}

const CSV_COLUMNS: CsvColumn<Order>[] = [
  ['number', ({ number }) => number],
  ['status', ({ status }) => STATUS[status].label],
  ['placed', ({ created_at: at }) => at],
  ['status since', ({ status_changed_at: at }) => at],
  ['partner', partnerOf],
  ["partner's id", ({ external_order_id: id }) => id],
  ['type', ({ order_type: type }) => TYPES[type]],
  ['guest', ({ customer }) => customer.name],
  ['phone', ({ customer }) => customer.phone],
  ['address', ({ delivery_address: address }) => address],
  ['dishes', (order) => dishesOf(order, '; ')],
  ['notes', ({ notes }) => notes],
  ['total', ({ total }) => total],
  ['currency', ({ currency }) => currency],
  ['cancelled because', ({ cancel_reason: reason }) => reason],
];

function dishesOf({ lines }: Order, separator: string): string {
  return lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(separator);
}

function Count({ rows = [], hasMore = false }: { rows: Order[] | undefined; hasMore?: boolean }) {
  const { dayOf } = useFormat();
  if (rows.length === 0) return null;
  return (
    <Group justify="space-between" fz="sm" c="dimmed">
      {plural(rows.length, 'order')}
      {hasMore && ' so far'}
      <Button
        variant="default"
        leftSection={<DownloadIcon size={15} />}
        onClick={() => downloadCsv(`orders-${dayOf(serverNow())}.csv`, CSV_COLUMNS, rows)}
      >
        CSV of these {rows.length.toLocaleString()}
      </Button>
    </Group>
  );
}

function OneLine({ children }: { children: ReactNode }) {
  return (
    <Text span inherit display="block" truncate maw={180}>
      {children}
    </Text>
  );
}

function useColumns(): Column<Order>[] {
  const { moment, money } = useFormat();
  const moves = useMoves();
  // A move that the service does not have yet is shown at once.
  const statusOf = (order: Order) => STATUS[moves.get(order.order_id)?.order.status ?? order.status];
  return [
    { label: 'Order', cell: ({ number }) => <span style={{ whiteSpace: 'nowrap' }}>#{number}</span> },
    { label: 'Placed', cell: ({ created_at: at }) => moment(at, serverNow()) },
    { label: 'Status', cell: (order) => <Status tone={statusOf(order).tone}>{statusOf(order).label}</Status> },
    { label: 'Partner', isWideOnly: 'very', cell: (order) => <OneLine>{partnerOf(order)}</OneLine> },
    { label: 'Type', isWideOnly: true, cell: ({ order_type: type }) => <OneLine>{TYPES[type]}</OneLine> },
    { label: 'Guest', isWideOnly: true, cell: ({ customer }) => <OneLine>{customer.name}</OneLine> },
    {
      label: 'Dishes',
      isWideOnly: true,
      cell: (order) => (
        <Text inherit c="dimmed" lineClamp={1}>
          {dishesOf(order, ', ')}
        </Text>
      ),
    },
    { label: 'Total', isNumber: true, cell: ({ total }) => money(total) },
  ];
}

const STATUSES = Object.entries(STATUS).map(([value, { label }]) => ({ value, label }));
const TYPE_OPTIONS = Object.entries(TYPES).map(([value, label]) => ({ value, label }));

/** The search, and all filters of the API's list of orders. */
export function ListFilters() {
  const { search, change } = useOrdersSearch();
  return (
    <>
      <FindField
        label="Find an order"
        placeholder="Number, name, phone, partner's id"
        text={search.q}
        onFind={(q) => change({ q })}
      />
      {search.q === undefined && (
        <>
          <ChipChoice
            label="Status"
            options={STATUSES}
            value={search.status}
            onChange={(status) => change({ status })}
          />
          <FilterSelect
            label="Type"
            all="Any type"
            width={140}
            value={search.type}
            options={TYPE_OPTIONS}
            onChange={(type) => change({ type })}
          />
          <PartnerSelect value={search.partner} onChange={(partner) => change({ partner })} />
          <DayRange from={search.from} to={search.to} onChange={change} />
        </>
      )}
    </>
  );
}
