import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { readList } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { downloadCsv } from '../../ui/csv.ts';
import { ChipChoice, SetChip } from '../../ui/chips.tsx';
import { DayRange } from '../../ui/day-range.tsx';
import { plural, useFormat } from '../../ui/format.ts';
import { DownloadIcon, SearchIcon } from '../../ui/icons.tsx';
import { PartnerSelect } from '../../ui/filter-select.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable } from '../../ui/table.tsx';
import { timesOf } from '../../ui/zoned-day.ts';
import { CSV_COLUMNS } from './csv.ts';
import { useMoves } from './moves.ts';
import { withMove } from './open-orders.ts';
import { type OrdersSearch, useOrdersSearch } from './search.ts';
import { type Order, partnerOf, STATUS, TYPES } from './statuses.ts';

/** All orders as a table, newest first. */
export function OrderList() {
  const { search, change } = useOrdersSearch();
  const { timezone } = useMe().tenant;
  const { dayOf } = useFormat();
  const moves = useMoves();
  const columns = useColumns();
  const query = queryOf(search, timezone);
  const list = useInfiniteQuery(readList('listStaffOrders', query, ['orders']));
  const rows = (list.data?.pages ?? [])
    .flatMap(({ results }) => results)
    .map((order) => withMove(order, moves.get(order.order_id)));
  return (
    <>
      {rows.length > 0 && (
        <Group justify="space-between" fz="sm" c="dimmed">
          {plural(rows.length, 'order')}
          {list.hasNextPage && ' so far'}
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<DownloadIcon size={15} />}
            onClick={() => downloadCsv(`orders-${dayOf(serverNow())}.csv`, CSV_COLUMNS, rows)}
          >
            CSV of these {rows.length.toLocaleString()}
          </Button>
        </Group>
      )}
      <ListTable
        label="Orders"
        list={{ ...list, data: list.data && { pages: [{ results: rows }] } }}
        columns={columns}
        keyOf={({ order_id: id }) => id}
        openKey={search.open}
        onOpen={({ order_id: id }) => change({ open: id })}
        empty={
          Object.values(query).some((value) => value !== undefined)
            ? {
                title: 'No order passes these filters',
                text: hintOf(search),
                action: (
                  <Link to="/orders" search={{ view: 'list' }}>
                    Show all orders
                  </Link>
                ),
              }
            : { title: 'No order has come yet', text: 'Orders of your partners appear here by themselves.' }
        }
      />
    </>
  );
}

/** Says how the API compares, for the filter that is most easily set too narrowly. */
function hintOf({ external, phone, name, from }: OrdersSearch): string {
  if (external !== undefined) return 'The partner’s id must be whole, in its own spelling.';
  if (phone !== undefined) return 'The phone number must be whole. Spaces and signs make no difference.';
  if (name !== undefined && from === undefined) return 'Names are found by how they begin, within the last 31 days.';
  return 'They may be combined, and then all of them must fit.';
}

/** Filters as the API names them. */
function queryOf({ status, type, partner, from, to, external, name, phone }: OrdersSearch, timeZone: string) {
  return {
    status,
    order_type: type,
    credential_id: partner,
    external_order_id: external,
    name,
    phone,
    ...timesOf(from, to, timeZone),
  };
}

function useColumns(): Column<Order>[] {
  const { moment, money } = useFormat();
  return [
    { label: 'Order', cell: ({ number }) => `#${number}` },
    { label: 'Placed', cell: ({ created_at: at }) => moment(at, serverNow()) },
    { label: 'Status', cell: ({ status }) => <Status tone={STATUS[status].tone}>{STATUS[status].label}</Status> },
    {
      label: 'Partner',
      isWideOnly: true,
      cell: (order) => (
        <Text span inherit truncate>
          {partnerOf(order)}
        </Text>
      ),
    },
    { label: 'Type', isWideOnly: true, cell: ({ order_type: type }) => TYPES[type] },
    { label: 'Guest', isWideOnly: true, cell: ({ customer }) => customer.name ?? '–' },
    {
      label: 'Dishes',
      isWideOnly: true,
      cell: ({ lines }) => (
        <Text inherit c="dimmed" lineClamp={1}>
          {lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')}
        </Text>
      ),
    },
    { label: 'Total', isNumber: true, cell: ({ total }) => money(total) },
  ];
}

const STATUSES = Object.entries(STATUS).map(([value, { label }]) => ({ value, label }));
const TYPE_OPTIONS = Object.entries(TYPES).map(([value, label]) => ({ value, label }));
/** What a person may know of an order, and the word for it. */
const TEXTS = [
  { value: 'name', label: 'Name', hint: 'Begins with' },
  { value: 'phone', label: 'Phone', hint: 'The whole number' },
  { value: 'external', label: "Partner's id", hint: 'The whole id' },
] as const;

/** All filters of the API's list of orders. */
export function ListFilters() {
  const { search, change } = useOrdersSearch();
  return (
    <>
      <ChipChoice label="Status" options={STATUSES} value={search.status} onChange={(status) => change({ status })} />
      <TextSearch />
      <Select
        aria-label="Type"
        placeholder="Any type"
        clearable
        w={140}
        value={search.type ?? null}
        data={TYPE_OPTIONS}
        onChange={(type) => change({ type: type ?? undefined })}
      />
      <PartnerSelect value={search.partner} onChange={(partner) => change({ partner })} />
      <DayRange from={search.from} to={search.to} onChange={change} />
      {TEXTS.map(
        ({ value, label }) =>
          search[value] !== undefined && (
            <SetChip key={value} label={`${label}: ${search[value]}`} onRemove={() => change({ [value]: undefined })} />
          ),
      )}
    </>
  );
}

function TextSearch() {
  const { change } = useOrdersSearch();
  const [kind, setKind] = useState<(typeof TEXTS)[number]>(TEXTS[0]);
  const [text, setText] = useState('');
  const search = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') change({ [kind.value]: text.trim() });
    setText('');
  };
  return (
    <Group component="form" role="search" gap={8} wrap="nowrap" onSubmit={search}>
      <Select
        aria-label="Search by"
        w={130}
        allowDeselect={false}
        value={kind.value}
        data={[...TEXTS]}
        onChange={(value) => setKind(TEXTS.find((each) => each.value === value) ?? TEXTS[0])}
      />
      <TextInput
        aria-label={`Search by ${kind.label.toLowerCase()}`}
        placeholder={kind.hint}
        leftSection={<SearchIcon size={15} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </Group>
  );
}
