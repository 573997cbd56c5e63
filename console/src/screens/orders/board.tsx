import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { read } from '../../api/reads.ts';
import { areasOf, useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { type Command, useCommands } from '../../ui/commands.ts';
import { OfflineStrip } from '../../ui/connection.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Failure } from '../../ui/failure.tsx';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Waiting } from '../../ui/waiting.tsx';
import { AllDay } from './all-day-panel.tsx';
import classes from './board.module.css';
import type { CardActions } from './card.tsx';
import { Column } from './column.tsx';
import { moveOn, useMoves } from './moves.ts';
import { type Columns, columnsOf, MOST_OPEN, openOrdersQuery, withMove } from './open-orders.ts';
import { ClosedStrip } from './pause.tsx';
import type { OrdersSearch } from './search.ts';
import { type Sound, touch } from './sound.ts';
import { SoundStrip } from './sound-strip.tsx';
import { nextStatus, OPEN_STATUSES, type OpenStatus, STATUS } from './statuses.ts';

interface BoardProps {
  search: OrdersSearch;
  sound: Sound;
  actions: CardActions;
  change: (patch: Partial<OrdersSearch>) => void;
}

/** The open orders, a column for each status. */
export function Board({ search, sound, actions, change }: BoardProps) {
  const { data, error, refetch } = useQuery(openOrdersQuery);
  const me = useMe();
  const moves = useMoves();
  const orders = useMemo(
    () => (data?.results ?? []).map((order) => withMove(order, moves.get(order.order_id))),
    [data, moves],
  );
  const columns = useMemo(() => columnsOf(orders), [orders]);
  useBoardCommands(columns, search.open !== undefined);
  const first = useRef<OpenStatus | null>(null);
  if (data === undefined) return error ? <Failure error={error} retry={() => void refetch()} /> : <Waiting />;
  // Without a press, a phone stays with the column that it began with.
  first.current ??= OPEN_STATUSES.find((status) => columns[status].length > 0) ?? null;
  const chosen = OPEN_STATUSES.find((status) => status === search.column) ?? first.current ?? 'pending';
  const isEmpty = OPEN_STATUSES.every((status) => columns[status].length === 0);
  const isCounting = search.day !== undefined;
  return (
    <div className={classes.frame}>
      <OfflineStrip />
      <ClosedStrip />
      <SoundStrip sound={sound} />
      {data.next !== null && (
        <p className={classes.strip}>The oldest {MOST_OPEN} open orders are shown. There are more in the list.</p>
      )}
      {!isEmpty && !isCounting && <Tabs columns={columns} chosen={chosen} change={change} />}
      <div className={classes.board} data-counting={isCounting || undefined}>
        <div className={classes.columns}>
          {isEmpty && <Quiet />}
          {!isEmpty &&
            OPEN_STATUSES.map((status, index) => (
              <Column
                key={status}
                status={status}
                hotkey={String(index + 1)}
                orders={columns[status]}
                moves={moves}
                ringing={sound.ringing}
                actions={actions}
                isChosen={status === chosen}
              />
            ))}
        </div>
        {isCounting && <AllDay orders={orders} mayChangeMenu={areasOf(me).includes('menu')} />}
      </div>
    </div>
  );
}

function Tabs({ columns, chosen, change }: Pick<BoardProps, 'change'> & { columns: Columns; chosen: OpenStatus }) {
  return (
    <div className={classes.tabs} role="group" aria-label="Column">
      {OPEN_STATUSES.map((status) => (
        <button
          key={status}
          type="button"
          className={classes.tab}
          aria-pressed={status === chosen}
          onClick={() => {
            change({ column: status });
            document.querySelector(`#column-${status}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
          }}
        >
          <b>{columns[status].length}</b>
          {STATUS[status].label}
        </button>
      ))}
    </div>
  );
}

/** The board without an order: since when it is quiet. */
function Quiet() {
  const { data } = useQuery(read('listStaffOrders', { query: { limit: 1 } }, ['orders']));
  const now = useNow(10_000);
  const { moment } = useFormat();
  const last = data?.results[0]?.created_at;
  if (data === undefined) return null;
  if (last === undefined) {
    return (
      <div className={classes.quiet}>
        <Empty title="No order has come yet">
          Orders of your partners appear here by themselves, within a second. The board needs no reload.
        </Empty>
      </div>
    );
  }
  return (
    <div className={classes.quiet}>
      <Empty title="All quiet">
        No order is open. The last one came {moment(last, now)}, {formatAge(now - Date.parse(last))} ago. New orders
        appear here by themselves.
      </Empty>
    </div>
  );
}

function useBoardCommands(columns: Columns, isCovered: boolean): void {
  // The keys stay registered while orders come and go, and find the newest columns here.
  const latest = useRef({ columns, isCovered });
  useEffect(() => {
    latest.current = { columns, isCovered };
  });
  const commands = useMemo<Command[]>(
    () =>
      OPEN_STATUSES.map((status, index) => ({
        id: `press ${status}`,
        label: `Move the first ${STATUS[status].label.toLowerCase()} order on`,
        group: 'Orders',
        keys: String(index + 1),
        run: () => {
          // Nobody presses a card that an open order covers.
          if (latest.current.isCovered) return;
          const first = latest.current.columns[status][0];
          const next = first && nextStatus(first);
          if (first === undefined || next === undefined) return;
          touch(first.order_id);
          moveOn(first, next);
        },
      })),
    [],
  );
  useCommands(commands);
}
