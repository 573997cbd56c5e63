import { ActionIcon, Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/filters.tsx';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { useFormat } from '../../ui/format.ts';
import { FullScreenIcon, MutedIcon, PauseIcon, SoundIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { UNDO, undoLast } from '../../ui/undo-notice.tsx';
import classes from './board.module.css';
import { Board, openOrdersQuery } from './board.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import { setFullScreen, useWakeLock } from './kitchen.ts';
import { ListFilters, OrderList } from './list.tsx';
import { useSendingAtEnd } from './moves.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { PauseDialog } from './pause.tsx';
import { useOrdersSearch } from './search.ts';
import { SoundStrip } from './sound-strip.tsx';
import { setMuted, type Sound, touch, useSound } from './sound.ts';
import { TicketPrinter } from './ticket.tsx';

/** From this width on, the counts of the dishes stand beside the columns. */
const WIDE_PX = 1_200;

/** The orders: a board of the open ones, and a list of all. */
export function Orders() {
  const { search, change } = useOrdersSearch();
  const { data } = useQuery(openOrdersQuery);
  const sound = useSound(useMemo(() => data?.results.filter(({ status }) => status === 'pending') ?? [], [data]));
  const [isList, isKitchen] = [search.view === 'list', search.view === 'kitchen'];
  useSendingAtEnd();
  useWakeLock(isKitchen);
  useEffect(() => {
    if (search.open !== undefined) touch(search.open);
  }, [search.open]);
  return (
    <>
      <div className={isKitchen ? classes.kitchen : undefined}>
        <Page
          title="Orders"
          isLive
          isWide={!isList}
          actions={<Bar sound={sound} />}
          filters={isList ? <ListFilters /> : undefined}
        >
          {isList ? (
            <Stack gap="xs">
              <SoundStrip sound={sound} />
              <OrderList />
            </Stack>
          ) : (
            <Board sound={sound} />
          )}
        </Page>
      </div>
      <OrderDrawer id={search.open} onClose={() => change({ open: undefined })} />
      <CancelDialog />
      <TicketPrinter />
    </>
  );
}

const VIEWS = [{ value: 'list', label: 'All orders' }] as const;

function Bar({ sound: { isMuted, ringing } }: { sound: Sound }) {
  const { search, change } = useOrdersSearch();
  const [isPausing, setPausing] = useState(false);
  const [isList, isKitchen, isCounting] = [search.view === 'list', search.view === 'kitchen', search.day !== undefined];
  const height = isKitchen ? 44 : undefined;
  const icon = { variant: 'subtle', color: 'gray', size: height ?? 'input-sm' };
  const soundLabel = isMuted ? 'Sound on' : 'Mute';
  const toggleSound = () => setMuted(!isMuted);
  const pause = () => setPausing(true);
  const toggleDay = () => change({ day: isCounting ? undefined : 'on' });
  const toggleKitchen = () => {
    setFullScreen(!isKitchen);
    const day = !isKitchen && window.innerWidth >= WIDE_PX ? 'on' : undefined;
    change({ view: isKitchen ? undefined : 'kitchen', day });
  };
  const viewLabel = isList ? 'Board of the open orders' : 'List of all orders';
  useCommands(
    commandsOf('Orders', [
      ['k', isKitchen ? 'Leave the kitchen mode' : 'Kitchen mode', toggleKitchen],
      ['a', 'All-day counts', toggleDay],
      ['u', UNDO, undoLast],
      ['s', 'Stop ringing', () => touch(...ringing)],
      ['m', soundLabel, toggleSound],
      ['v', viewLabel, () => change({ view: isList ? undefined : 'list' })],
      ['p', 'Pause orders', pause],
    ]),
  );
  return (
    <>
      {isKitchen ? (
        <Clock />
      ) : (
        <ChipChoice
          label="View"
          all="Board"
          options={VIEWS}
          value={isList ? 'list' : undefined}
          onChange={(view) => change({ view })}
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
