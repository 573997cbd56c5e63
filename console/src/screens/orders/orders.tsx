import { ActionIcon, Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { useFormat } from '../../ui/format.ts';
import { FullScreenIcon, MutedIcon, PauseIcon, SoundIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { ReasonDialog } from '../../ui/reason-dialog.tsx';
import classes from './board.module.css';
import { Board, openOrdersQuery } from './board.tsx';
import type { CardActions } from './card.tsx';
import { setFullScreen, useWakeLock } from './kitchen.ts';
import { ListFilters, OrderList } from './list.tsx';
import { cancelOrder, undo, watchPage } from './moves.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { type Change, type OrdersSearch, useOrdersSearch } from './search.ts';
import { SoundStrip } from './sound-strip.tsx';
import { setMuted, type Sound, touch, useSound } from './sound.ts';
import { type Order, partnerOf } from './statuses.ts';
import { TicketPrinter } from './ticket.tsx';
import { UndoTray } from './undo-tray.tsx';

/** From this width on, the counts of the dishes stand beside the columns. */
const WIDE_PX = 1_200;

/** The orders: a board of the open ones, and a list of all. */
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
  const isKitchen = isKitchenMode(search);
  useScreenCommands(search, change, sound, () => setPausing(true));
  useEffect(watchPage, []);
  useWakeLock(isKitchen);
  useEffect(() => {
    if (search.open !== undefined) touch(search.open);
  }, [search.open]);
  return (
    <>
      {search.view === 'list' ? (
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
            actions={<BoardBar isMuted={sound.isMuted} pause={() => setPausing(true)} />}
          >
            <Board sound={sound} actions={actions} />
          </Page>
        </div>
      )}
      <OrderDrawer id={search.open} onClose={() => change({ open: undefined })} onCancel={setCancelling} />
      <ReasonDialog question={cancelling && cancelQuestion(cancelling)} onClose={() => setCancelling(null)} />
      <PauseDialog isOpen={isPausing} onClose={() => setPausing(false)} />
      <UndoTray />
      <TicketPrinter />
    </>
  );
}

function isKitchenMode({ kitchen, view }: OrdersSearch): boolean {
  return kitchen !== undefined && view !== 'list';
}

function cancelQuestion(order: Order) {
  return {
    title: `Cancel order #${order.number}?`,
    text: `${partnerOf(order)} is told at once. This cannot be undone.`,
    reasons: [
      'A dish is sold out.',
      'The kitchen is too busy.',
      'The guest asked for it.',
      'The guest cannot be reached.',
    ],
    press: 'Cancel the order',
    isGrave: true,
    run: (reason: string | undefined) => cancelOrder(order, reason),
  };
}

const VIEWS = [{ value: 'list', label: 'All orders' }] as const;

function ViewChoice() {
  const { search, change } = useOrdersSearch();
  const value = search.view === 'list' ? 'list' : undefined;
  return <ChipChoice label="View" all="Board" options={VIEWS} value={value} onChange={(view) => change({ view })} />;
}

function BoardBar({ isMuted, pause }: { isMuted: boolean; pause: () => void }) {
  const { search, change } = useOrdersSearch();
  const isKitchen = isKitchenMode(search);
  const isCounting = search.day !== undefined;
  const height = isKitchen ? 44 : undefined;
  const icon = { variant: 'subtle', color: 'gray', size: height ?? 'input-sm' };
  return (
    <>
      {isKitchen ? <Clock /> : <ViewChoice />}
      <ActionIcon {...icon} aria-label={isMuted ? 'Sound on' : 'Mute'} onClick={() => setMuted(!isMuted)}>
        {isMuted ? <MutedIcon /> : <SoundIcon />}
      </ActionIcon>
      <ActionIcon {...icon} aria-label="Pause orders" title="Pause orders" onClick={pause}>
        <PauseIcon />
      </ActionIcon>
      {!isKitchen && (
        <ActionIcon {...icon} visibleFrom="sm" aria-label="Kitchen mode" onClick={() => setKitchen(true, change)}>
          <FullScreenIcon />
        </ActionIcon>
      )}
      <Button
        variant={isCounting ? 'light' : 'default'}
        h={height}
        px="sm"
        aria-pressed={isCounting}
        onClick={() => toggleDay(search, change)}
      >
        All day
      </Button>
      {isKitchen && (
        <Button variant="default" h={height} onClick={() => setKitchen(false, change)}>
          Leave
        </Button>
      )}
    </>
  );
}

function Clock() {
  const now = useNow();
  const { clock } = useFormat();
  return (
    <Text fz="xl" fw={650} visibleFrom="sm">
      {clock(now)}
    </Text>
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

function useScreenCommands(search: OrdersSearch, change: Change, { isMuted, ringing }: Sound, pause: () => void): void {
  const isKitchen = isKitchenMode(search);
  const [view, viewLabel] =
    search.view === undefined ? (['list', 'List of all orders'] as const) : [undefined, 'Board of the open orders'];
  useCommands(
    commandsOf('Orders', [
      ['k', isKitchen ? 'Leave the kitchen mode' : 'Kitchen mode', () => setKitchen(!isKitchen, change)],
      ['a', 'All-day counts', () => toggleDay(search, change)],
      ['u', 'Undo the last move', undo],
      ['s', 'Stop ringing', () => touch(...ringing)],
      ['m', isMuted ? 'Sound on' : 'Mute', () => setMuted(!isMuted)],
      ['v', viewLabel, () => change({ view })],
      ['p', 'Pause orders', pause],
    ]),
  );
}
