import { Button, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useHouse } from '../../api/house.ts';
import { read } from '../../api/reads.ts';
import { areasOf, isOwner, useMe } from '../../api/session.ts';
import { ChipChoice, PropertySelect } from '../../ui/filters.tsx';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { DayStep } from '../../ui/days.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { addDays } from '../../ui/format.ts';
import { Page, PrintButton } from '../../ui/page.tsx';
import { useAddress } from '../../ui/search.ts';
import { Bar, UndoButton } from './bar.tsx';
import { BulkDialog, type BulkForm } from './bulk-dialog.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { type Place, useEditing } from './editing.ts';
import { Grid } from './grid.tsx';
import { NightDrawer } from './night-drawer.tsx';
import { datesOf, keyOf } from './nights.ts';
import { PriceList } from './price-list.tsx';
import { RowDialog } from './row-dialog.tsx';
import { type Row, rowsOf } from './rows.tsx';
import type { CalendarSearch } from './search.ts';
import { undo, useWrites } from './writes.ts';

/** Rooms and prices of a property, night by night. */
export function Calendar() {
  const me = useMe();
  const mayWrite = areasOf(me).includes('rates');
  const mayOpen = ({ plan }: Row) => (plan === null ? isOwner(me) : mayWrite);
  const shown = useCalendar();
  const { search, set, rows, dates } = shown;
  const { night } = search;
  const editing = useEditing(rows, dates, mayWrite);
  const field = useRef<HTMLInputElement>(null);
  const [bulk, setBulk] = useState<Pick<BulkForm, 'plans' | 'from' | 'to'> | null>(null);
  const [opened, setOpened] = useState<Row | null>(null);
  const open = ({ row: index, column }: Place) => {
    const row = rows[index];
    if (row && column >= 0) set({ night: `${row.type.id}.${dates[column]}` });
    else if (row && mayOpen(row)) setOpened(row);
  };
  const openNight = () => open(editing.focus);
  const openBulk = () => {
    const selected = [...new Set(editing.closable.map(({ date }) => date))];
    const range = selected.length > 1 ? selected : dates;
    const plans = [...new Set(editing.closable.map(({ rate_plan_id: plan }) => plan))];
    setBulk({ plans, from: range[0], to: range.at(-1) });
  };
  const writing = commandsOf('Calendar', [
    ['s', 'Close or open the nights (Shift and arrows select)', editing.toggleClosed],
    ['=', 'Selected nights back to the base price', editing.setBase],
    ['b', 'Change many nights', openBulk],
    ['u', 'Undo the last change', undo],
  ]);
  const opening = commandsOf('Calendar', [
    ['n', 'Open the night', openNight],
    ['p', 'Print the price list', () => window.print()],
  ]);
  useCommands(mayWrite && night === undefined ? [...opening, ...writing] : opening);
  return (
    <Page
      title="Calendar"
      isLive
      isWide
      actions={
        rows.length > 0 && (
          <>
            <PrintButton />
            {mayWrite && <Button onClick={openBulk}>Change many nights</Button>}
          </>
        )
      }
      filters={<Filters {...shown} />}
    >
      {shown.isEmpty ? (
        <Empty title="No rooms yet.">Room types and their rate plans come with the tenant document.</Empty>
      ) : (
        <Loaded query={shown.query} rows={12}>
          {(calendar) => (
            <Stack gap={0} h="100%" className="off-paper">
              <Grid {...{ calendar, rows, dates, editing, field, open, mayOpen }} />
              <Bar {...{ dates, editing, mayWrite, field, openNight }} />
            </Stack>
          )}
        </Loaded>
      )}
      <PriceList rows={rows} dates={dates} />
      <NightDrawer night={night} rows={rows} onClose={() => set({ night: undefined })} />
      <BulkDialog property={shown.property} rows={rows} start={bulk} onClose={() => setBulk(null)} />
      <RowDialog row={opened} onClose={() => setOpened(null)} />
      <ConflictDialog rows={rows} />
    </Page>
  );
}

function useCalendar() {
  const { search, set } = useAddress<CalendarSearch>('night');
  const { properties, todayAt } = useHouse();
  const property = (properties?.find(({ id }) => id === search.property) ?? properties?.[0])?.id ?? '';
  const today = todayAt(property);
  const { from = today, nights = 14 } = search;
  const input = { query: { property_id: property, from, to: addDays(from, nights) } };
  const query = useQuery({
    ...read('getCalendar', input, ['reservations', 'rates', 'rooms']),
    enabled: property !== '',
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  const { sending } = useWrites();
  const painted = useMemo(() => new Map(sending.flat().map((change) => [keyOf(change), change.after])), [sending]);
  return {
    search,
    from,
    today,
    nights,
    set,
    properties,
    property,
    query,
    isEmpty: properties?.length === 0 || data?.room_types.length === 0,
    rows: useMemo(() => (data ? rowsOf(data, painted) : []), [data, painted]),
    dates: useMemo(() => (data ? datesOf(data) : []), [data?.from, data?.to]),
  };
}

const RANGES = (['28', '90'] as const).map((value) => ({ value, label: `${value} nights` }));

function Filters({ search, from, today, nights, set, properties }: ReturnType<typeof useCalendar>) {
  return (
    <>
      <PropertySelect
        all={properties?.[0]?.name ?? ''}
        value={search.property}
        onChange={(property) => set({ property })}
      />
      <ChipChoice
        label="Range"
        all="14 nights"
        options={RANGES}
        value={RANGES.find(({ value }) => value === String(nights))?.value}
        onChange={(value) => set({ nights: value && (value === '28' ? 28 : 90) })}
      />
      <DayStep
        day={from}
        today={today}
        by={nights}
        onChange={(day) => set({ from: day === today ? undefined : day })}
      />
      <UndoButton />
    </>
  );
}
