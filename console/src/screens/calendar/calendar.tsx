import { Button, Select, Stack } from '@mantine/core';
import { useRef, useState } from 'react';
import { areasOf, isOwner, useMe } from '../../api/session.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { useCommands } from '../../ui/commands.ts';
import { Empty } from '../../ui/empty.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { PrintButton } from '../../ui/new-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Bar, KeyButton, UndoButton } from './bar.tsx';
import classes from './calendar.module.css';
import type { BulkForm } from './bulk-changes.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { type Place, useEditing } from './editing.ts';
import { Grid } from './grid.tsx';
import { NightDrawer } from './night-drawer.tsx';
import { RowDialog } from './row-dialog.tsx';
import { PriceList } from './price-list.tsx';
import type { Row } from './rows.tsx';
import { useCalendar } from './use-calendar.ts';
import { undo } from './writes.ts';

/** Rooms and prices of a property, night by night. */
export function Calendar() {
  const me = useMe();
  const mayWrite = areasOf(me).includes('rates');
  const mayOpen = ({ plan }: Row) => (plan === null ? isOwner(me) : mayWrite);
  const shown = useCalendar();
  const { night, nights, set, move, rows, dates } = shown;
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
  const command = (keys: string, label: string, run: () => void) => ({
    id: label,
    label,
    group: 'Calendar',
    keys,
    run,
  });
  const writing = [
    command('s', 'Close or open the nights (Shift and arrows select)', editing.toggleClosed),
    command('=', 'Selected nights back to the base price', editing.setBase),
    command('b', 'Change many nights', openBulk),
    command('u', 'Undo the last change', undo),
  ];
  useCommands([
    command('[', 'Earlier nights', () => move(-nights)),
    command(']', 'Later nights', () => move(nights)),
    command('t', 'From today on', () => set({ from: undefined })),
    command('n', 'Open the night', openNight),
    command('p', 'Print the price list', () => window.print()),
    ...(mayWrite && night === undefined ? writing : []),
  ]);
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
            <Stack gap={0} h="100%" className={classes.screen}>
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

const RANGES = (['28', '90'] as const).map((value) => ({ value, label: `${value} nights` }));

function Filters({ nights, set, move, properties = [], property }: ReturnType<typeof useCalendar>) {
  return (
    <>
      {properties.length > 1 && (
        <Select
          aria-label="Property"
          w={190}
          allowDeselect={false}
          value={property}
          data={properties.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(id) => set({ property: id ?? undefined })}
        />
      )}
      <ChipChoice
        label="Range"
        all="14 nights"
        options={RANGES}
        value={RANGES.find(({ value }) => value === String(nights))?.value}
        onChange={(value) => set({ nights: value && (value === '28' ? 28 : 90) })}
      />
      <Button.Group>
        <KeyButton onClick={() => move(-nights)}>Earlier</KeyButton>
        <KeyButton onClick={() => set({ from: undefined })}>Today</KeyButton>
        <KeyButton onClick={() => move(nights)}>Later</KeyButton>
      </Button.Group>
      <UndoButton />
    </>
  );
}
