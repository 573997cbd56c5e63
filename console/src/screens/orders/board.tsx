import { Kbd, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { OfflineStrip } from '../../ui/connection.tsx';
import { Empty } from '../../ui/empty.tsx';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Status } from '../../ui/status.tsx';
import { Strip } from '../../ui/strip.tsx';
import { AllDay } from './all-day.tsx';
import classes from './board.module.css';
import { Card, type CardActions } from './card.tsx';
import { ClosedStrip } from './closed-strip.tsx';
import { lateBy, promisedTime, useLateMinutes } from './late.ts';
import { moveOn, useMoves } from './moves.ts';
import { useOrdersSearch } from './search.ts';
import { SoundStrip } from './sound-strip.tsx';
import { type Sound, touch } from './sound.ts';
import { laterStatuses, OPEN_STATUSES, type OpenStatus, type Order, STATUS } from './statuses.ts';

/** Most open orders that the API lists at once. */
const MOST_OPEN = 500;
const OPEN = { query: { open: true, limit: MOST_OPEN, order: 'oldest' } } as const;
export const openOrdersQuery = read('listStaffOrders', OPEN, ['orders']);

type Columns = Record<OpenStatus, Order[]>;

interface BoardProps {
  sound: Sound;
  actions: CardActions;
}

/** The open orders, a column for each status. */
export function Board({ sound, actions }: BoardProps) {
  const { search } = useOrdersSearch();
  const query = useQuery(openOrdersQuery);
  const moves = useMoves();
  const { data } = query;
  const orders = useMemo(
    () => (data?.results ?? []).map((order) => moves.get(order.order_id)?.order ?? order),
    [data, moves],
  );
  const columns = useMemo(() => {
    const byStatus = Map.groupBy(orders, ({ status }) => status);
    return Object.fromEntries(
      OPEN_STATUSES.map((status) => [status, byStatus.get(status) ?? []]),
    ) as unknown as Columns;
  }, [orders]);
  useBoardCommands(columns, search.open !== undefined);
  // Without a press, a phone stays with the column that it began with.
  const first = useRef<OpenStatus>(undefined);
  const filled = OPEN_STATUSES.find((status) => columns[status].length > 0);
  first.current ??= filled;
  const chosen = OPEN_STATUSES.find((status) => status === search.column) ?? first.current ?? 'pending';
  const isCounting = search.day !== undefined;
  return (
    <div className={classes.frame}>
      <OfflineStrip />
      <ClosedStrip />
      <SoundStrip sound={sound} />
      <Loaded query={query}>
        {({ next }) => (
          <>
            {next !== null && <Strip>The oldest {MOST_OPEN} open orders are shown. There are more in the list.</Strip>}
            {filled && !isCounting && <Tabs columns={columns} chosen={chosen} />}
            <div className={classes.board} data-counting={isCounting || undefined}>
              <div className={classes.columns}>
                {filled === undefined ? (
                  <Empty title="All quiet">
                    No order is open. New orders of your partners appear here by themselves, within a second.
                  </Empty>
                ) : (
                  OPEN_STATUSES.map((status) => (
                    <Column
                      key={status}
                      status={status}
                      orders={columns[status]}
                      ringing={sound.ringing}
                      actions={actions}
                      isChosen={status === chosen}
                    />
                  ))
                )}
              </div>
              {isCounting && <AllDay orders={orders} />}
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** Where the columns do not fit, the tabs say what is out of sight, and bring it in. */
function Tabs({ columns, chosen }: { columns: Columns; chosen: OpenStatus }) {
  const { change } = useOrdersSearch();
  const choose = (status: string) => {
    change({ column: status });
    document.querySelector(`#column-${status}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const tabs = OPEN_STATUSES.map((status) => ({
    value: status,
    label: (
      <>
        <b>{columns[status].length}</b> {STATUS[status].label}
      </>
    ),
  }));
  return (
    <SegmentedControl
      hiddenFrom="lg"
      classNames={{ root: classes.tabs, label: classes.tab }}
      aria-label="Column"
      value={chosen}
      data={tabs}
      onChange={choose}
    />
  );
}

interface ColumnProps {
  status: OpenStatus;
  orders: Order[];
  ringing: ReadonlySet<string>;
  actions: CardActions;
  /** A phone shows one column at a time. */
  isChosen: boolean;
}

/** All orders of one status, oldest first. */
function Column({ status, orders, ringing, actions, isChosen }: ColumnProps) {
  const now = useNow();
  const moves = useMoves();
  const minutes = useLateMinutes();
  const { clock } = useFormat();
  const late = orders.map((order) => lateBy(order, minutes, now));
  const lateCount = late.filter((each) => each !== null).length;
  const { label } = STATUS[status];
  const hotkey = OPEN_STATUSES.indexOf(status) + 1;
  return (
    <section
      className={classes.column}
      id={`column-${status}`}
      aria-label={label}
      data-empty={orders.length === 0 || undefined}
      data-chosen={isChosen || undefined}
    >
      <header className={classes.columnHead}>
        <h2>{label}</h2>
        <span className={classes.count}>{orders.length}</span>
        {lateCount > 0 && <Status tone="late">{`${lateCount} late`}</Status>}
        <Kbd fz="0.8em" py={0} className={classes.hotkey} title={`Press ${hotkey} for the first card`}>
          {hotkey}
        </Kbd>
      </header>
      <ul className={classes.cards} tabIndex={orders.length > 0 ? 0 : undefined} aria-label={`${label} orders`}>
        {orders.map((order, index) => {
          const promised = promisedTime(order);
          return (
            <Card
              key={order.order_id}
              order={order}
              age={ageOf(order, now)}
              promised={promised && clock(promised)}
              late={late[index] ?? null}
              phase={moves.get(order.order_id)?.phase}
              isRinging={ringing.has(order.order_id)}
              actions={actions}
            />
          );
        })}
      </ul>
    </section>
  );
}

/** In whole minutes, so that a card renders again once a minute. */
function ageOf({ created_at: placedAt }: Order, now: number): string {
  const ageMs = now - Date.parse(placedAt);
  return ageMs < 60_000 ? 'now' : formatAge(ageMs);
}

/** The key of a column moves its first card on, unless an open order covers the board. */
function useBoardCommands(columns: Columns, isCovered: boolean): void {
  const moveFirst = ([order]: Order[]) => {
    const [next] = order ? laterStatuses(order) : [];
    if (isCovered || order === undefined || next === undefined) return;
    touch(order.order_id);
    moveOn(order, next);
  };
  const labelOf = (status: OpenStatus) => `Move the first ${STATUS[status].label.toLowerCase()} order on`;
  useCommands(
    commandsOf(
      'Orders',
      OPEN_STATUSES.map((status, index) => [String(index + 1), labelOf(status), () => moveFirst(columns[status])]),
    ),
  );
}
