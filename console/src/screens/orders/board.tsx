import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { areasOf, useMe } from '../../api/session.ts';
import { type Command, useCommands } from '../../ui/commands.ts';
import { OfflineStrip } from '../../ui/connection.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { AllDay } from './all-day.tsx';
import classes from './board.module.css';
import type { CardActions } from './card.tsx';
import { Column } from './column.tsx';
import { moveOn, useMoves } from './moves.ts';
import { type Columns, columnsOf, MOST_OPEN, openOrdersQuery, withMove } from './open-orders.ts';
import { ClosedStrip } from './pause.tsx';
import { useOrdersSearch } from './search.ts';
import { type Sound, touch } from './sound.ts';
import { laterStatuses, OPEN_STATUSES, type OpenStatus, STATUS } from './statuses.ts';
import { SoundStrip } from './sound-strip.tsx';
import { Strip } from '../../ui/strip.tsx';

interface BoardProps {
  sound: Sound;
  actions: CardActions;
}

/** The open orders, a column for each status. */
export function Board({ sound, actions }: BoardProps) {
  const { search } = useOrdersSearch();
  const query = useQuery(openOrdersQuery);
  const mayChangeMenu = areasOf(useMe()).includes('menu');
  const moves = useMoves();
  const { data } = query;
  const orders = useMemo(
    () => (data?.results ?? []).map((order) => withMove(order, moves.get(order.order_id))),
    [data, moves],
  );
  const columns = useMemo(() => columnsOf(orders), [orders]);
  useBoardCommands(columns, search.open !== undefined);
  // Without a press, a phone stays with the column that it began with.
  const first = useRef<OpenStatus>(undefined);
  if (data !== undefined) first.current ??= OPEN_STATUSES.find((status) => columns[status].length > 0);
  const chosen = OPEN_STATUSES.find((status) => status === search.column) ?? first.current ?? 'pending';
  const isEmpty = OPEN_STATUSES.every((status) => columns[status].length === 0);
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
            {!isEmpty && !isCounting && <Tabs columns={columns} chosen={chosen} />}
            <div className={classes.board} data-counting={isCounting || undefined}>
              <div className={classes.columns}>
                {isEmpty && (
                  <Empty title="All quiet">
                    No order is open. New orders of your partners appear here by themselves, within a second.
                  </Empty>
                )}
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
              {isCounting && <AllDay orders={orders} mayChangeMenu={mayChangeMenu} />}
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
      className={classes.tabs}
      classNames={{ label: classes.tab }}
      aria-label="Column"
      value={chosen}
      data={tabs}
      onChange={choose}
    />
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
          const [order] = latest.current.columns[status];
          const [next] = order ? laterStatuses(order) : [];
          // Nobody presses a card that an open order covers.
          if (latest.current.isCovered || order === undefined || next === undefined) return;
          touch(order.order_id);
          moveOn(order, next);
        },
      })),
    [],
  );
  useCommands(commands);
}
