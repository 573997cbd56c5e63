import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { type Command, useCommands } from '../../ui/commands.ts';
import { useFormat } from '../../ui/format.ts';
import { FullScreenIcon, MoreIcon, MutedIcon, SoundIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import classes from './board.module.css';
import { Board } from './board.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import type { CardActions } from './card.tsx';
import { setFullScreen, useWakeLock } from './kitchen.ts';
import { OrderList } from './list.tsx';
import { ListFilters } from './list-filters.tsx';
import { undo, watchPage } from './moves.ts';
import { openOrdersQuery } from './open-orders.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { PauseDialog, resume, usePause } from './pause.tsx';
import type { OrdersSearch } from './search.ts';
import { setMuted, type Sound, touch, useSound } from './sound.ts';
import { SoundStrip } from './sound-strip.tsx';
import type { Order } from './statuses.ts';
import { TicketPrinter } from './ticket.tsx';
import { UndoTray } from './undo-tray.tsx';

const route = getRouteApi('/shell/orders');
/** From this width on, the counts of the dishes stand beside the columns. */
const WIDE_PX = 1_200;

type Change = (patch: Partial<OrdersSearch>) => void;

export function Orders() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback<Change>(
    (patch) => {
      // A filter or a tab is no place to come back to, but an order and a view are.
      const isPlace = 'open' in patch || 'view' in patch || 'kitchen' in patch;
      void navigate({ search: (previous: OrdersSearch) => ({ ...previous, ...patch }), replace: !isPlace });
    },
    [navigate],
  );
  const [cancelling, setCancelling] = useState<Order | null>(null);
  const [isPausing, setPausing] = useState(false);
  const actions = useMemo<CardActions>(
    () => ({ open: ({ order_id: id }) => change({ open: id }), cancel: setCancelling }),
    [change],
  );
  const sound = useSound(useNewOrders());
  const isList = search.view === 'list';
  const isKitchen = search.kitchen !== undefined && !isList;
  useScreenCommands(search, change, sound, setPausing);
  useEffect(watchPage, []);
  useWakeLock(isKitchen);
  useEffect(() => {
    if (search.open !== undefined) touch(search.open);
  }, [search.open]);
  const bar = { search, change, sound, setPausing };
  return (
    <>
      {isList ? (
        <Page
          title="Orders"
          isLive
          actions={<ViewChoice {...bar} />}
          filters={<ListFilters search={search} change={change} />}
        >
          <SoundStrip sound={sound} />
          <OrderList search={search} change={change} />
        </Page>
      ) : (
        <div className={isKitchen ? classes.kitchen : undefined}>
          <Page title="Orders" isLive isWide actions={isKitchen ? <KitchenBar {...bar} /> : <BoardBar {...bar} />}>
            <Board search={search} sound={sound} actions={actions} change={change} />
          </Page>
        </div>
      )}
      <OrderDrawer id={search.open} onClose={() => change({ open: undefined })} onCancel={setCancelling} />
      <CancelDialog order={cancelling} onClose={() => setCancelling(null)} />
      <PauseDialog isOpen={isPausing} onClose={() => setPausing(false)} />
      <UndoTray />
      <TicketPrinter />
    </>
  );
}

function useNewOrders(): Order[] {
  const { data } = useQuery(openOrdersQuery);
  return useMemo(() => (data?.results ?? []).filter(({ status }) => status === 'pending'), [data]);
}

interface BarProps {
  search: OrdersSearch;
  change: Change;
  sound: Sound;
  setPausing: (isPausing: boolean) => void;
}

const VIEWS = [{ value: 'list', label: 'All orders' }] as const;

function ViewChoice({ search, change }: BarProps) {
  const value = search.view === 'list' ? 'list' : undefined;
  return <ChipChoice label="View" all="Board" options={VIEWS} value={value} onChange={(view) => change({ view })} />;
}

function BoardBar(props: BarProps) {
  const { search, change, setPausing } = props;
  const { state, isPaused } = usePause();
  return (
    <>
      <ViewChoice {...props} />
      <SoundButton {...props} />
      <IconButton label="Kitchen mode" hotkey="k" onClick={() => setKitchen(true, change)}>
        <FullScreenIcon />
      </IconButton>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={44} aria-label="More for the board">
            <MoreIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => toggleDay(search, change)}>
            {search.day === undefined ? 'Show the all-day counts' : 'Hide the all-day counts'}
          </Menu.Item>
          <Menu.Item component={Link} to="/settings">
            When is an order late?
          </Menu.Item>
          <Menu.Divider />
          {isPaused ? (
            <Menu.Item onClick={() => void resume()}>Take orders again</Menu.Item>
          ) : (
            <Menu.Item disabled={state === undefined} onClick={() => setPausing(true)}>
              Pause orders…
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

function KitchenBar(props: BarProps) {
  const { search, change } = props;
  const now = useNow(1_000);
  const { clock } = useFormat();
  return (
    <>
      <span className={classes.clock}>{clock(now)}</span>
      <SoundButton {...props} />
      <Button
        variant={search.day === undefined ? 'default' : 'light'}
        h={44}
        aria-pressed={search.day !== undefined}
        onClick={() => toggleDay(search, change)}
      >
        All day
      </Button>
      <IconButton label="Fill the screen" onClick={() => setFullScreen(document.fullscreenElement === null)}>
        <FullScreenIcon />
      </IconButton>
      <Button variant="default" h={44} onClick={() => setKitchen(false, change)}>
        Leave
      </Button>
    </>
  );
}

function SoundButton({ sound: { isMuted } }: BarProps) {
  return (
    <IconButton label={isMuted ? 'Sound on' : 'Mute'} hotkey="m" onClick={() => setMuted(!isMuted)}>
      {isMuted ? <MutedIcon /> : <SoundIcon />}
    </IconButton>
  );
}

interface IconButtonProps {
  label: string;
  hotkey?: string;
  onClick: () => void;
  children: ReactNode;
}

function IconButton({ label, hotkey, onClick, children }: IconButtonProps) {
  return (
    <Tooltip label={hotkey === undefined ? label : `${label} (${hotkey})`}>
      <ActionIcon variant="subtle" color="gray" size={44} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function setKitchen(isOn: boolean, change: Change): void {
  setFullScreen(isOn);
  const hasRoom = window.innerWidth >= WIDE_PX;
  change(
    isOn
      ? { kitchen: 'on', view: undefined, ...(hasRoom ? { day: 'on' } : {}) }
      : { kitchen: undefined, day: undefined },
  );
}

function toggleDay({ day }: OrdersSearch, change: Change): void {
  change({ day: day === undefined ? 'on' : undefined });
}

function useScreenCommands(
  search: OrdersSearch,
  change: Change,
  { isMuted, ringing }: Sound,
  setPausing: BarProps['setPausing'],
): void {
  const { kitchen, view, day } = search;
  const navigate = useNavigate();
  const commands = useMemo<Command[]>(
    () => [
      {
        id: 'kitchen',
        label: kitchen === undefined ? 'Kitchen mode' : 'Leave the kitchen mode',
        group: 'Orders',
        keys: 'k',
        run: () => setKitchen(kitchen === undefined, change),
      },
      { id: 'day', label: 'All-day counts', group: 'Orders', keys: 'a', run: () => toggleDay({ day }, change) },
      { id: 'undo', label: 'Undo the last move', group: 'Orders', keys: 'u', run: () => undo() },
      { id: 'ringing', label: 'Stop ringing', group: 'Orders', keys: 's', run: () => touch(...ringing) },
      { id: 'mute', label: isMuted ? 'Sound on' : 'Mute', group: 'Orders', keys: 'm', run: () => setMuted(!isMuted) },
      {
        id: 'view',
        label: view === undefined ? 'List of all orders' : 'Board of the open orders',
        group: 'Orders',
        keys: 'v',
        run: () => change({ view: view === undefined ? 'list' : undefined }),
      },
      { id: 'pause', label: 'Pause orders…', group: 'Orders', run: () => setPausing(true) },
      { id: 'late', label: 'When is an order late?', group: 'Orders', run: () => void navigate({ to: '/settings' }) },
    ],
    [kitchen, view, day, change, isMuted, ringing, setPausing, navigate],
  );
  useCommands(commands);
}
