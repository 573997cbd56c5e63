import { Button, Modal, NumberInput, Stack } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { call } from '../../api/client.ts';
import { useHouse } from '../../api/house.ts';
import { read } from '../../api/reads.ts';
import { areasOf, isOwner, useMe } from '../../api/session.ts';
import { Chips, PropertySelect } from '../../ui/filters.tsx';
import { useCommands } from '../../ui/commands.ts';
import { DayStep } from '../../ui/days.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { Form, TextField, useWrite } from '../../ui/form.tsx';
import { addDays, amountOf, formatDate, TYPE_PRICE, weekday } from '../../ui/format.ts';
import { Page, PrintButton } from '../../ui/page.tsx';
import { useAddress } from '../../ui/search.ts';
import { useStore } from '../../ui/store.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Bar, UndoButton } from './bar.tsx';
import { BulkForm, type BulkStart } from './bulk-form.tsx';
import classes from './calendar.module.css';
import { ConflictDialog } from './conflict-dialog.tsx';
import { type Place, useEditing } from './editing.ts';
import { Grid } from './grid.tsx';
import { NightDrawer } from './night-drawer.tsx';
import { datesOf, keyOf, underWay, undo } from './nights.ts';
import { type Row, rowsOf } from './rows.tsx';
import type { CalendarSearch } from './search.ts';

const RANGES = ([undefined, 28, 90] as const).map((value) => ({ value, label: `${value ?? 14} nights` }));

/** Rooms and prices of a property, night by night. */
export function Calendar() {
  const me = useMe();
  const mayWrite = areasOf(me).includes('rates');
  const mayOpen = ({ plan }: Row) => (plan === null ? isOwner(me) : mayWrite);
  const { search, set, properties, property, from, today, nights, query, isEmpty, rows, dates } = useCalendar();
  const { night } = search;
  const editing = useEditing(rows, dates, mayWrite);
  const [bulk, setBulk] = useState<BulkStart | null>(null);
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
  useCommands('Calendar', [
    ['n', 'Open the night', openNight],
    ['p', 'Print the price list', () => window.print()],
  ]);
  useCommands(
    'Calendar',
    mayWrite && night === undefined
      ? [
          ['s', 'Close or open the nights (Shift and arrows select)', editing.toggleClosed],
          ['=', 'Selected nights back to the base price', editing.setBase],
          ['b', 'Change many nights', openBulk],
          ['u', 'Undo the last change', undo],
        ]
      : [],
  );
  return (
    <Page
      title="Calendar"
      isLive
      isWide
      actions={
        rows.length > 0 && (
          <>
            <PrintButton />
            {mayWrite && (
              <Button px="sm" onClick={openBulk}>
                Change many nights
              </Button>
            )}
          </>
        )
      }
      filters={
        <>
          <PropertySelect
            all={properties?.[0]?.name ?? ''}
            value={search.property}
            onChange={(next) => set({ property: next })}
          />
          <Chips
            label="Range"
            options={RANGES}
            isPressed={(value) => value === search.nights}
            onPress={(value) => set({ nights: value })}
          />
          <DayStep
            day={from}
            today={today}
            by={nights}
            onChange={(day) => set({ from: day === today ? undefined : day })}
          />
          <UndoButton />
        </>
      }
    >
      {isEmpty ? (
        <Empty title="No rooms yet.">
          Whoever runs Roomservice for you adds room types and their rate plans, in the tenant document.
        </Empty>
      ) : (
        <Loaded query={query} rows={12}>
          {(calendar) => (
            <Stack gap={0} h="100%" className="off-paper">
              <Grid calendar={calendar} editing={editing} open={open} mayOpen={mayOpen} />
              <Bar editing={editing} openNight={openNight} />
            </Stack>
          )}
        </Loaded>
      )}
      <PriceList rows={rows} dates={dates} />
      <NightDrawer night={night} rows={rows} onClose={() => set({ night: undefined })} />
      <Modal opened={bulk !== null} onClose={() => setBulk(null)} size="lg" title="Change many nights">
        {bulk && <BulkForm property={property} rows={rows} start={bulk} onClose={() => setBulk(null)} />}
      </Modal>
      <Modal opened={opened !== null} onClose={() => setOpened(null)} title={opened?.fullName}>
        {opened && <RowForm row={opened} onClose={() => setOpened(null)} />}
      </Modal>
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
    // Rooms of another property would be changed under the name of this one.
    placeholderData: (before, earlier) => (earlier?.queryKey[1].query.property_id === property ? before : undefined),
  });
  const { data } = query;
  const writes = useStore(underWay);
  const painted = useMemo(() => new Map(writes.flat().map((change) => [keyOf(change), change.after])), [writes]);
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

/** Number of nights that fit the width of a sheet. */
const NIGHTS_A_TABLE = 14;

/** The prices of the calendar on paper, two weeks a table. It is part of the page only while it is printed. */
function PriceList({ rows, dates }: { rows: Row[]; dates: string[] }) {
  const { currency } = useMe().tenant;
  const [isPrinting, setPrinting] = useState(false);
  useWindowEvent('beforeprint', () => flushSync(() => setPrinting(true)));
  useWindowEvent('afterprint', () => setPrinting(false));
  const columns = dates.map((date, index): Column<Row> => {
    const cell = ({ plan, values }: Row) =>
      values[index]?.is_sold_out ? 'closed' : (values[index]?.price ?? plan?.base_price);
    return { label: `${weekday.format(new Date(date))}\n${formatDate(date)}`, isNumber: true, cell };
  });
  const starts = isPrinting ? dates.flatMap((_, index) => (index % NIGHTS_A_TABLE === 0 ? [index] : [])) : [];
  return starts.map((start) => (
    <div key={start} className={`${classes.paper} on-paper`}>
      <Table
        label={`Prices from ${formatDate(dates[start] ?? '')}`}
        rows={rows.filter(({ plan }) => plan !== null)}
        keyOf={({ plan }) => plan?.id ?? ''}
        groupOf={({ type }) => type.name}
        columns={[
          { label: `Prices in ${currency}\nfrom ${formatDate(dates[start] ?? '', 'year')}`, cell: ({ name }) => name },
          ...columns.slice(start, start + NIGHTS_A_TABLE),
        ]}
      />
    </div>
  ));
}

/** What is set for a room type or a plan on all nights. */
function RowForm({ row: { type, plan }, onClose }: { row: Row; onClose: () => void }) {
  const { currency } = useMe().tenant;
  const [price, setPrice] = useState(plan?.base_price ?? '0');
  // Empty while it is typed anew.
  const [typed, setTyped] = useState<number | string>(plan?.min_nights ?? type.physical_capacity);
  const count = Number(typed);
  const amount = amountOf(price);
  const send = async (): Promise<unknown> =>
    plan === null
      ? await call('changeRoomType', { path: { id: type.id }, body: { physical_capacity: count } })
      : await call('changeRatePlan', { path: { id: plan.id }, body: { base_price: amount ?? '', min_nights: count } });
  const sending = useWrite(['getCalendar', 'listProperties'], send, onClose);
  return (
    <Form action="Save" sending={sending} isReady={amount !== null && typed !== ''} onCancel={onClose}>
      {plan && (
        <TextField
          label={`Base price in ${currency}`}
          description="For each night that has no price of its own."
          inputMode="decimal"
          data-autofocus
          mb="md"
          error={amount === null && TYPE_PRICE}
          value={price}
          onChange={setPrice}
        />
      )}
      <NumberInput
        label={plan ? 'Shortest stay in nights' : 'Rooms'}
        min={plan ? 1 : 0}
        allowDecimal={false}
        data-autofocus={plan === null || undefined}
        value={typed}
        onChange={setTyped}
      />
    </Form>
  );
}
