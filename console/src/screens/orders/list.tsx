import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { find, guestFilters, isMeant, readList } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { type CsvColumn, downloadCsv } from '../../ui/csv.ts';
import { FilterSelect, FindField, FoldedFilters, PartnerSelect } from '../../ui/filters.tsx';
import { DayRange } from '../../ui/days.tsx';
import { plural, timesOf, useFormat } from '../../ui/format.ts';
import { DownloadIcon } from '../../ui/icons.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, OneLine } from '../../ui/table.tsx';
import { useMoves } from './moves.ts';
import { openOrdersQuery } from './board.tsx';
import { useOrdersAddress } from './search.ts';
import { type Order, partnerOf, STATUS, TYPES } from './statuses.ts';

const FINDING = {
  list: 'listStaffOrders' as const,
  topics: ['orders' as const],
  filtersOf: (text: string) => {
    const number = text.replace(/[#\s]/g, '');
    return [
      { external_order_id: text.slice(0, 150) },
      ...(number.length === 4 ? [{ number }] : []),
      ...guestFilters(text),
    ];
  },
  idOf: ({ order_id: id }: Order) => id,
};

export function OrderList() {
  const { search, set } = useOrdersAddress();
  const { timezone } = useMe().tenant;
  const { q, status, type, partner, from, to } = search;
  const filters = { status, order_type: type, credential_id: partner, ...timesOf(from, to, timezone) };
  const all = useInfiniteQuery({ ...readList(FINDING.list, filters, FINDING.topics), enabled: q === undefined });
  const found = useFound(q);
  const list = q === undefined ? all : found;
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const isCut = q === undefined && all.hasNextPage;
  return (
    <>
      <Count rows={list.data} isCut={isCut} />
      <ListTable
        label="Orders"
        columns={useColumns()}
        keyOf={FINDING.idOf}
        openKey={search.open}
        onOpen={({ order_id: id }: Order) => set({ open: id })}
        list={list}
        empty={q === undefined ? (isFiltered ? NONE_PASSES : NONE_YET) : noneFound(q)}
      />
    </>
  );
}

const NONE_YET = { title: 'No order has come yet.', text: 'Orders of your partners appear here by themselves.' };
const NONE_PASSES = {
  title: 'No order passes these filters.',
  text: 'They may be combined, and then all of them must fit.',
  action: (
    <Link to="/orders" search={{ view: 'list' }}>
      Show all orders
    </Link>
  ),
};
const noneFound = (q: string) => ({
  title: `Nothing found for “${q}”.`,
  text: 'An order of the last 31 days is found by its number, how the name begins, a whole phone number, or the partner’s id. An open one also by a part of the name or the phone number.',
});

/** The orders that are found for a text. The API does not search parts of names, so only open orders are found by them. */
function useFound(q = '') {
  const found = useQuery(find(FINDING, q || undefined));
  const { data: open } = useQuery(openOrdersQuery);
  const near = open?.results.filter(({ customer }) => isMeant(q, customer.name, customer.phone)) ?? [];
  const others = found.data?.filter(({ order_id: id }) => near.every((order) => order.order_id !== id));
  return { ...found, data: others && [...near, ...others] };
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

function Count({ rows = [], isCut }: { rows: Order[] | undefined; isCut: boolean }) {
  const { dayOf } = useFormat();
  const { timezone } = useMe().tenant;
  if (rows.length === 0) return null;
  return (
    <Group justify="space-between" fz="sm" c="dimmed">
      {plural(rows.length, 'order')}
      {isCut && ' so far'}
      <Button
        variant="default"
        leftSection={<DownloadIcon size={15} />}
        onClick={() => downloadCsv(`orders-${dayOf(serverNow())}.csv`, CSV_COLUMNS, rows, timezone)}
      >
        CSV of these {rows.length.toLocaleString()}
      </Button>
    </Group>
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
      isWideOnly: 'very',
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
  const { search, set } = useOrdersAddress();
  const { q, status, type, partner, from, to } = search;
  return (
    <>
      <FindField
        label="Find an order"
        placeholder="Number, name, phone, id"
        text={q}
        onFind={(text) => set({ q: text })}
      />
      {q === undefined && (
        <FoldedFilters
          label="Status"
          options={STATUSES}
          value={status}
          onChange={(next) => set({ status: next })}
          others={[type, partner, from ?? to]}
        >
          <FilterSelect
            aria-label="Type"
            placeholder="Any type"
            w={140}
            value={type}
            data={TYPE_OPTIONS}
            onChange={(next) => set({ type: next })}
          />
          <PartnerSelect value={partner} onChange={(next) => set({ partner: next })} />
          <DayRange from={from} to={to} onChange={set} />
        </FoldedFilters>
      )}
    </>
  );
}
