import { Kbd, SegmentedControl, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { useCommands } from '../../ui/commands.ts';
import { OfflineStrip, Strip } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { AllDay } from './all-day.tsx';
import classes from './board.module.css';
import { Card } from './card.tsx';
import { ClosedStrip } from './pause.tsx';
import { lateBy, promisedTime, useLateMinutes } from './late.ts';
import { moveOn, useMoves } from './moves.ts';
import { useOrdersAddress } from './search.ts';
import { allowSound, setMuted, type Sound, touch } from './sound.ts';
import { laterStatuses, OPEN_STATUSES, type OpenStatus, type Order, STATUS } from './statuses.ts';

/** Most open orders that the API lists at once. */
const MOST_OPEN = 500;
const OPEN = { query: { open: true, limit: MOST_OPEN, order: 'oldest' } } as const;
export const openOrdersQuery = read('listStaffOrders', OPEN, ['orders']);

type OrdersIn = (status: OpenStatus) => Order[];

export function Board({ ringing }: Pick<Sound, 'ringing'>) {
  const { search } = useOrdersAddress();
  const query = useQuery(openOrdersQuery);
  const moves = useMoves();
  const { data } = query;
  const orders = useMemo(
    () => (data?.results ?? []).map((order) => moves.get(order.order_id)?.order ?? order),
    [data, moves],
  );
  const byStatus = useMemo(() => Map.groupBy(orders, ({ status }) => status), [orders]);
  const ordersIn: OrdersIn = (status) => byStatus.get(status) ?? [];
  useBoardCommands(ordersIn, search.open !== undefined);
  // Without a press, a phone stays with the column that it began with.
  const first = useRef<OpenStatus>(undefined);
  const filled = OPEN_STATUSES.find((status) => ordersIn(status).length > 0);
  first.current ??= filled;
  const chosen = OPEN_STATUSES.find((status) => status === search.column) ?? first.current ?? 'pending';
  const isCounting = search.day !== undefined;
  return (
    <>
      <OfflineStrip />
      <ClosedStrip />
      <Loaded query={query}>
        {({ next }) => (
          <>
            {next !== null && <Strip>The oldest {MOST_OPEN} open orders are shown. There are more in the list.</Strip>}
            {filled && !isCounting && <Tabs ordersIn={ordersIn} chosen={chosen} />}
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
                      orders={ordersIn(status)}
                      ringing={ringing}
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
    </>
  );
}

export function SoundStrip({ sound: { isHeldBack, isMuted, ringing } }: { sound: Sound }) {
  if (isHeldBack) {
    return (
      <Strip
        tone="quiet"
        actions={[
          ['Turn the sound on', allowSound],
          ['Keep it silent', () => setMuted(true)],
        ]}
      >
        This browser is silent until you press something.
      </Strip>
    );
  }
  if (isMuted || ringing.size === 0) return null;
  return (
    <Strip tone="accent" actions={[['Stop ringing', () => touch(...ringing)]]}>
      {ringing.size === 1 ? 'A new order waits.' : `${ringing.size} new orders wait.`} It rings until it is touched.
    </Strip>
  );
}

/** Where the columns do not fit, the tabs say what is out of sight, and bring it in. */
function Tabs({ ordersIn, chosen }: { ordersIn: OrdersIn; chosen: OpenStatus }) {
  const { search, set } = useOrdersAddress();
  const choose = (column: string) => {
    set({ column });
    document.querySelector(`#column-${column}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const labelOf = (status: OpenStatus) => (
    <>
      <b>{ordersIn(status).length}</b> {STATUS[status].label}
    </>
  );
  return (
    <SegmentedControl
      hiddenFrom={search.view === 'kitchen' ? 'md' : 'lg'}
      classNames={{ label: classes.tab }}
      flex="none"
      bg="var(--rs-sunken)"
      aria-label="Column"
      value={chosen}
      data={OPEN_STATUSES.map((status) => ({ value: status, label: labelOf(status) }))}
      onChange={choose}
    />
  );
}

interface ColumnProps {
  status: OpenStatus;
  orders: Order[];
  ringing: ReadonlySet<string>;
  /** A phone shows one column at a time. */
  isChosen: boolean;
}

function Column({ status, orders, ringing, isChosen }: ColumnProps) {
  const now = useNow();
  const moves = useMoves();
  const minutes = useLateMinutes();
  const { clock } = useFormat();
  const { set } = useOrdersAddress();
  const cards = orders.map((order) => {
    const { order_id: key } = order;
    const promised = promisedTime(order);
    return {
      key,
      order,
      age: ageOf(order, now),
      promised: promised && clock(promised),
      late: lateBy(order, minutes, now),
      phase: moves.get(key)?.phase,
      isRinging: ringing.has(key),
    };
  });
  const lateCount = cards.filter(({ late }) => late !== null).length;
  const { label } = STATUS[status];
  const hotkey = OPEN_STATUSES.indexOf(status) + 1;
  return (
    <section className={classes.column} id={`column-${status}`} aria-label={label} data-chosen={isChosen || undefined}>
      <header>
        <Title order={2} fz="1em" textWrap="nowrap">
          {label}
        </Title>
        {orders.length}
        <small>{lateCount > 0 && <Status tone="late">{`${lateCount} late`}</Status>}</small>
        <Kbd fz="0.8em" py={0} ml="auto" title={`Press ${hotkey} for the first card`}>
          {hotkey}
        </Kbd>
      </header>
      <ul tabIndex={orders.length > 0 ? 0 : undefined} aria-label={`${label} orders`}>
        {cards.map(({ key, ...card }) => (
          <Card key={key} {...card} set={set} />
        ))}
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
function useBoardCommands(ordersIn: OrdersIn, isCovered: boolean): void {
  const moveFirst = ([order]: Order[]) => {
    const [next] = order ? laterStatuses(order) : [];
    if (isCovered || order === undefined || next === undefined) return;
    touch(order.order_id);
    moveOn(order, next);
  };
  const labelOf = (status: OpenStatus) => `Move the first ${STATUS[status].label.toLowerCase()} order on`;
  useCommands(
    'Orders',
    OPEN_STATUSES.map((status, index) => [String(index + 1), labelOf(status), () => moveFirst(ordersIn(status))]),
  );
}
