import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { readList } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { downloadCsv } from '../../ui/csv.ts';
import { plural, useFormat } from '../../ui/format.ts';
import { DownloadIcon } from '../../ui/icons.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable } from '../../ui/table.tsx';
import { timesOf } from '../../ui/zoned-day.ts';
import { CSV_COLUMNS } from './csv.ts';
import classes from './list.module.css';
import { useMoves } from './moves.ts';
import { withMove } from './open-orders.ts';
import type { OrdersSearch } from './search.ts';
import { type Order, partnerOf, STATUS, TYPES } from './statuses.ts';

interface Props {
  search: OrdersSearch;
  change: (patch: Partial<OrdersSearch>) => void;
}

/** All orders as a table, newest first. */
export function OrderList({ search, change }: Props) {
  const { timezone } = useMe().tenant;
  const { dayOf } = useFormat();
  const moves = useMoves();
  const columns = useColumns();
  const list = useInfiniteQuery(readList('listStaffOrders', queryOf(search, timezone), ['orders']));
  const rows = list.data?.pages.flatMap(({ results }) => results) ?? [];
  const isFiltered = Object.keys(queryOf(search, timezone)).length > 0;
  const shown = list.data && {
    pages: list.data.pages.map((page) => ({
      results: page.results.map((order) => withMove(order, moves.get(order.order_id))),
    })),
  };
  return (
    <>
      {rows.length > 0 && (
        <div className={classes.foot}>
          <span>
            {plural(rows.length, 'order')}
            {list.hasNextPage && ' so far'}
          </span>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<DownloadIcon size={15} />}
            onClick={() => downloadCsv(`orders-${dayOf(serverNow())}.csv`, CSV_COLUMNS, rows)}
          >
            CSV of these {rows.length.toLocaleString()}
          </Button>
        </div>
      )}
      <ListTable
        label="Orders"
        list={{ ...list, data: shown }}
        columns={columns}
        keyOf={({ order_id: id }) => id}
        openKey={search.open}
        onOpen={({ order_id: id }) => change({ open: id })}
        empty={
          isFiltered
            ? {
                title: 'No order passes these filters',
                text: hintOf(search),
                action: (
                  <Button variant="default" onClick={() => change(NO_FILTERS)}>
                    Remove all filters
                  </Button>
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

const NO_FILTERS = {
  status: undefined,
  type: undefined,
  partner: undefined,
  from: undefined,
  to: undefined,
  external: undefined,
  name: undefined,
  phone: undefined,
};

/** Filters as the API names them, without those that are not set. */
function queryOf({ status, type, partner, from, to, external, name, phone }: OrdersSearch, timeZone: string) {
  const query = {
    status,
    order_type: type,
    credential_id: partner,
    external_order_id: external,
    name,
    phone,
    ...timesOf(from, to, timeZone),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

function useColumns(): Column<Order>[] {
  const { moment, money } = useFormat();
  return [
    { label: 'Order', cell: ({ number }) => `#${number}` },
    { label: 'Placed', cell: ({ created_at: at }) => moment(at, serverNow()) },
    {
      label: 'Status',
      cell: ({ status }) => <Status tone={STATUS[status].tone}>{STATUS[status].label}</Status>,
    },
    { label: 'Partner', isWideOnly: true, cell: (order) => <span className={classes.whole}>{partnerOf(order)}</span> },
    {
      label: 'Type',
      isWideOnly: true,
      cell: ({ order_type: type }) => <span className={classes.whole}>{TYPES[type]}</span>,
    },
    { label: 'Guest', isWideOnly: true, cell: ({ customer }) => customer.name ?? '–' },
    {
      label: 'Dishes',
      isWideOnly: true,
      cell: ({ lines }) => (
        <span className={classes.dishes}>{lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')}</span>
      ),
    },
    { label: 'Total', isNumber: true, cell: ({ total }) => money(total) },
  ];
}
