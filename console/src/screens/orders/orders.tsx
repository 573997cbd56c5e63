import { ActionIcon, Button, Stack, Text } from '@mantine/core';
import { useDocumentVisibility, useFullscreenDocument } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/filters.tsx';
import { useCommands } from '../../ui/commands.ts';
import { useFormat } from '../../ui/format.ts';
import { FullScreenIcon, MutedIcon, PauseIcon, SoundIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { QuestionDialog } from '../../ui/question.tsx';
import classes from './board.module.css';
import { Board, openOrdersQuery, SoundStrip } from './board.tsx';
import { ListFilters, OrderList } from './list.tsx';
import { useSendingAtEnd } from './moves.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { PauseDialog } from './pause.tsx';
import { useOrdersAddress } from './search.ts';
import { setMuted, type Sound, touch, useSound } from './sound.ts';
import { TicketPrinter } from './ticket.tsx';

/** From this width on, the counts of the dishes stand beside the columns. */
const WIDE_PX = 1_200;

export function Orders() {
  const { search, set } = useOrdersAddress();
  const { data } = useQuery(openOrdersQuery);
  const sound = useSound(useMemo(() => data?.results.filter(({ status }) => status === 'pending') ?? [], [data]));
  const isList = search.view === 'list';
  useSendingAtEnd();
  useEffect(() => {
    if (search.open !== undefined) touch(search.open);
  }, [search.open]);
  return (
    <>
      <div className={search.view === 'kitchen' ? classes.kitchen : undefined}>
        <Page
          title="Orders"
          isLive
          isWide={!isList}
          actions={<Bar sound={sound} />}
          filters={isList ? <ListFilters /> : undefined}
        >
          <Stack gap={10} h={isList ? undefined : '100%'}>
            {isList ? <OrderList /> : <Board ringing={sound.ringing} />}
            {/* Below the orders, so that none moves away under a finger. */}
            <div className={classes.foot}>
              <SoundStrip sound={sound} />
            </div>
          </Stack>
        </Page>
      </div>
      <OrderDrawer id={search.open} onClose={() => set({ open: undefined })} />
      <QuestionDialog />
      <TicketPrinter />
    </>
  );
}

function Bar({ sound: { isMuted, ringing } }: { sound: Sound }) {
  const { search, set } = useOrdersAddress();
  const [isPausing, setPausing] = useState(false);
  const { fullscreen, toggle } = useFullscreenDocument();
  const [isList, isKitchen, isCounting] = [search.view === 'list', search.view === 'kitchen', search.day !== undefined];
  const height = isKitchen ? 44 : undefined;
  const icon = { variant: 'subtle', color: 'gray', size: height ?? 'input-sm' };
  const soundLabel = isMuted ? 'Sound on' : 'Mute';
  const toggleSound = () => setMuted(!isMuted);
  const pause = () => setPausing(true);
  const toggleDay = () => set({ day: isCounting ? undefined : 'on' });
  const toggleKitchen = () => {
    if (fullscreen === isKitchen) void toggle().catch(() => {});
    if (isKitchen) set({ view: undefined, day: undefined });
    else set({ view: 'kitchen', day: window.innerWidth >= WIDE_PX ? 'on' : undefined });
  };
  useWakeLock(isKitchen);
  useCommands('Orders', [
    ['k', isKitchen ? 'Leave the kitchen mode' : 'Kitchen mode', toggleKitchen],
    ['a', 'All-day counts', toggleDay],
    ['s', 'Stop ringing', () => touch(...ringing)],
    ['m', soundLabel, toggleSound],
    ['v', isList ? 'Board of the open orders' : 'List of all orders', () => set({ view: isList ? undefined : 'list' })],
    ['p', 'Pause orders', pause],
  ]);
  return (
    <>
      {isKitchen ? (
        <Clock />
      ) : (
        <ChipChoice
          label="View"
          all="Board"
          options={[{ value: 'list', label: 'All orders' }]}
          value={isList ? 'list' : undefined}
          onChange={(view) => set({ view })}
        />
      )}
      <ActionIcon {...icon} aria-label={soundLabel} onClick={toggleSound}>
        {isMuted ? <MutedIcon /> : <SoundIcon />}
      </ActionIcon>
      <ActionIcon {...icon} aria-label="Pause orders" title="Pause orders" onClick={pause}>
        <PauseIcon />
      </ActionIcon>
      {!isKitchen && (
        <ActionIcon {...icon} visibleFrom="sm" aria-label="Kitchen mode" onClick={toggleKitchen}>
          <FullScreenIcon />
        </ActionIcon>
      )}
      {!isList && (
        <Button
          variant={isCounting ? 'light' : 'default'}
          h={height}
          px="sm"
          aria-pressed={isCounting}
          onClick={toggleDay}
        >
          All day
        </Button>
      )}
      {isKitchen && (
        <Button variant="default" h={height} onClick={toggleKitchen}>
          Leave
        </Button>
      )}
      <PauseDialog isOpen={isPausing} onClose={() => setPausing(false)} />
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

/** Keeps the screen of the device on while the component is shown. A browser takes this back when the page hides. */
function useWakeLock(isOn: boolean): void {
  const isVisible = useDocumentVisibility() === 'visible';
  useEffect(() => {
    if (!isOn || !isVisible || !('wakeLock' in navigator)) return;
    // A device with an empty battery refuses. The board works without it.
    const lock = navigator.wakeLock.request('screen').catch(() => null);
    return () => void lock.then((held) => held?.release());
  }, [isOn, isVisible]);
}
