import { ActionIcon, Button, Menu, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
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
import { ListFilters, OrderList } from './list.tsx';
import { undo, watchPage } from './moves.ts';
import { openOrdersQuery } from './open-orders.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { PauseDialog, resume, usePause } from './pause.tsx';
import { type Change, type OrdersSearch, useOrdersSearch } from './search.ts';
import { setMuted, type Sound, touch, useSound } from './sound.ts';
import type { Order } from './statuses.ts';
import { SoundStrip } from './sound-strip.tsx';
import { TicketPrinter } from './ticket.tsx';
import { UndoTray } from './undo-tray.tsx';

/** From this width on, the counts of the dishes stand beside the columns. */
const WIDE_PX = 1_200;

export function Orders() {
  const { search, change } = useOrdersSearch();
  const [cancelling, setCancelling] = useState<Order | null>(null);
  const [isPausing, setPausing] = useState(false);
  const actions = useMemo<CardActions>(
    () => ({ open: ({ order_id: id }) => change({ open: id }), cancel: setCancelling }),
    [change],
  );
  const { data } = useQuery(openOrdersQuery);
  const sound = useSound(useMemo(() => data?.results.filter(({ status }) => status === 'pending') ?? [], [data]));
  const isList = search.view === 'list';
  const isKitchen = search.kitchen !== undefined && !isList;
  useScreenCommands(search, change, sound, setPausing);
  useEffect(watchPage, []);
  useWakeLock(isKitchen);
  useEffect(() => {
    if (search.open !== undefined) touch(search.open);
  }, [search.open]);
  return (
    <>
      {isList ? (
        <Page title="Orders" isLive actions={<ViewChoice />} filters={<ListFilters />}>
          <Stack gap="xs">
            <SoundStrip sound={sound} />
            <OrderList />
          </Stack>
        </Page>
      ) : (
        <div className={isKitchen ? classes.kitchen : undefined}>
          <Page
            title="Orders"
            isLive
            isWide
            actions={isKitchen ? <KitchenBar sound={sound} /> : <BoardBar sound={sound} setPausing={setPausing} />}
          >
            <Board sound={sound} actions={actions} />
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

const ICON = { variant: 'subtle', color: 'gray', size: 44 } as const;
const VIEWS = [{ value: 'list', label: 'All orders' }] as const;

function ViewChoice() {
  const { search, change } = useOrdersSearch();
  const value = search.view === 'list' ? 'list' : undefined;
  return <ChipChoice label="View" all="Board" options={VIEWS} value={value} onChange={(view) => change({ view })} />;
}

function BoardBar({ sound, setPausing }: { sound: Sound; setPausing: (isPausing: boolean) => void }) {
  const { search, change } = useOrdersSearch();
  const { state, isPaused } = usePause();
  return (
    <>
      <ViewChoice />
      <SoundButton sound={sound} />
      <ActionIcon {...ICON} aria-label="Kitchen mode" title="Kitchen mode (k)" onClick={() => setKitchen(true, change)}>
        <FullScreenIcon />
      </ActionIcon>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon {...ICON} aria-label="More for the board">
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

function KitchenBar({ sound }: { sound: Sound }) {
  const { search, change } = useOrdersSearch();
  const now = useNow();
  const { clock } = useFormat();
  const isCounting = search.day !== undefined;
  return (
    <>
      <span className={classes.clock}>{clock(now)}</span>
      <SoundButton sound={sound} />
      <Button
        variant={isCounting ? 'light' : 'default'}
        h={44}
        aria-pressed={isCounting}
        onClick={() => toggleDay(search, change)}
      >
        All day
      </Button>
      <ActionIcon
        {...ICON}
        aria-label="Fill the screen"
        onClick={() => setFullScreen(document.fullscreenElement === null)}
      >
        <FullScreenIcon />
      </ActionIcon>
      <Button variant="default" h={44} onClick={() => setKitchen(false, change)}>
        Leave
      </Button>
    </>
  );
}

function SoundButton({ sound: { isMuted } }: { sound: Sound }) {
  const words = isMuted ? 'Sound on' : 'Mute';
  return (
    <ActionIcon {...ICON} aria-label={words} title={`${words} (m)`} onClick={() => setMuted(!isMuted)}>
      {isMuted ? <MutedIcon /> : <SoundIcon />}
    </ActionIcon>
  );
}

function setKitchen(isOn: boolean, change: Change): void {
  setFullScreen(isOn);
  const day = isOn && window.innerWidth >= WIDE_PX ? 'on' : undefined;
  change({ kitchen: isOn ? 'on' : undefined, view: undefined, day });
}

function toggleDay({ day }: OrdersSearch, change: Change): void {
  change({ day: day === undefined ? 'on' : undefined });
}

function useScreenCommands(
  { kitchen, view, day }: OrdersSearch,
  change: Change,
  { isMuted, ringing }: Sound,
  setPausing: (isPausing: boolean) => void,
): void {
  const navigate = useNavigate();
  const commands = useMemo<Command[]>(() => {
    const command = (id: string, keys: string | undefined, label: string, run: () => void): Command => ({
      id,
      label,
      group: 'Orders',
      keys,
      run,
    });
    const [isKitchen, isBoard] = [kitchen !== undefined, view === undefined];
    return [
      command('kitchen', 'k', isKitchen ? 'Leave the kitchen mode' : 'Kitchen mode', () =>
        setKitchen(!isKitchen, change),
      ),
      command('day', 'a', 'All-day counts', () => toggleDay({ day }, change)),
      command('undo', 'u', 'Undo the last move', undo),
      command('ringing', 's', 'Stop ringing', () => touch(...ringing)),
      command('mute', 'm', isMuted ? 'Sound on' : 'Mute', () => setMuted(!isMuted)),
      command('view', 'v', isBoard ? 'List of all orders' : 'Board of the open orders', () =>
        change({ view: isBoard ? 'list' : undefined }),
      ),
      command('pause', undefined, 'Pause orders…', () => setPausing(true)),
      command('late', undefined, 'When is an order late?', () => void navigate({ to: '/settings' })),
    ];
  }, [kitchen, view, day, change, isMuted, ringing, setPausing, navigate]);
  useCommands(commands);
}
