import { Button, Select } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { areasOf, isOwner, useMe } from '../../api/session.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { type Command, useCommands } from '../../ui/commands.ts';
import { Empty } from '../../ui/empty.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Page } from '../../ui/page.tsx';
import { Waiting } from '../../ui/loaded.tsx';
import { Bar, UndoButton } from './bar.tsx';
import type { BulkForm } from './bulk-changes.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import classes from './calendar.module.css';
import { ConflictDialog } from './conflict-dialog.tsx';
import { useEditing } from './editing.ts';
import { Grid } from './grid.tsx';
import { NightDrawer } from './night-drawer.tsx';
import type { Place, Row } from './nights.ts';
import { RowDialog } from './row-dialog.tsx';
import { useCalendar } from './use-calendar.ts';
import { undo } from './writes.ts';

/** Rooms and prices of a property, night by night. */
export function Calendar() {
  const me = useMe();
  const mayWrite = areasOf(me).includes('rates');
  const shown = useCalendar();
  const { search, set, property, calendar, rows, dates, error, retry } = shown;
  const editing = useEditing(rows, dates, mayWrite);
  const field = useRef<HTMLInputElement>(null);
  const [bulk, setBulk] = useState<Pick<BulkForm, 'plans' | 'from' | 'to'> | null>(null);
  const [open, setOpen] = useState<Row | null>(null);
  const types = calendar?.room_types ?? [];
  const openNight = ({ row, column }: Place) => {
    const [type, date] = [rows[row]?.type, dates[column]];
    if (type && date) set({ night: `${type.id}.${date}` });
  };
  const openBulk = () => {
    const selected = [...new Set(editing.nights.map(({ date }) => date))];
    const nights = selected.length > 1 ? selected : dates;
    const plans = [...new Set(editing.nights.map(({ rate_plan_id: plan }) => plan))];
    setBulk({ plans, from: nights[0], to: nights.at(-1) });
  };
  const here = () => openNight(editing.selection.focus);
  const { toggleClosed, setBase } = editing;
  useKeys(shown, mayWrite, { here, toggleClosed, setBase, openBulk });
  return (
    <Page
      title="Calendar"
      isLive
      isWide
      actions={mayWrite && types.length > 0 && <Button onClick={openBulk}>Bulk</Button>}
      filters={<Filters {...shown} />}
    >
      {calendar === undefined && error === null && shown.properties?.length !== 0 && <Waiting rows={12} />}
      {calendar === undefined && error !== null && <Failure error={error} retry={retry} />}
      {(shown.properties?.length === 0 || calendar?.room_types.length === 0) && (
        <Empty title="No rooms yet.">Room types and their rate plans come with the tenant document.</Empty>
      )}
      {calendar && types.length > 0 && (
        <div className={classes.screen}>
          <Grid
            calendar={calendar}
            rows={rows}
            dates={dates}
            editing={editing}
            startTyping={(text) => {
              editing.type(text);
              field.current?.focus();
            }}
            openNight={openNight}
            mayOpen={({ plan }) => (plan === null ? isOwner(me) : mayWrite)}
            openRow={setOpen}
          />
          <Bar rows={rows} dates={dates} editing={editing} mayWrite={mayWrite} field={field} openNight={here} />
        </div>
      )}
      <NightDrawer night={search.night} types={types} onClose={() => set({ night: undefined })} />
      <BulkDialog property={property?.id ?? ''} types={types} start={bulk} onClose={() => setBulk(null)} />
      <RowDialog row={open} onClose={() => setOpen(null)} />
      <ConflictDialog />
    </Page>
  );
}

type Shown = ReturnType<typeof useCalendar>;

const RANGES = (['28', '90'] as const).map((value) => ({ value, label: `${value} nights` }));

function Filters({ search: { nights }, set, move, properties = [], property }: Shown) {
  return (
    <>
      {properties.length > 1 && (
        <Select
          aria-label="Property"
          w={190}
          allowDeselect={false}
          value={property?.id ?? null}
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
      <Button.Group className={classes.steps}>
        <Button variant="default" onClick={() => move(-nights)}>
          Earlier
        </Button>
        <Button variant="default" onClick={() => set({ from: undefined })}>
          Today
        </Button>
        <Button variant="default" onClick={() => move(nights)}>
          Later
        </Button>
      </Button.Group>
      <UndoButton />
    </>
  );
}

interface Doing {
  here: () => void;
  toggleClosed: () => void;
  setBase: () => void;
  openBulk: () => void;
}

function useKeys({ search: { nights, night }, move, set }: Shown, mayWrite: boolean, doing: Doing): void {
  // The commands stay the same while the selection changes, so they look here for what to do now.
  const now = useRef(doing);
  now.current = doing;
  const isWriting = mayWrite && night === undefined;
  useCommands(
    useMemo<Command[]>(() => {
      const own = (label: string, keys: string, run: () => void) => ({
        id: label,
        label,
        group: 'Calendar',
        keys,
        run,
      });
      const writing = [
        own('Close or open the selected nights', 's', () => now.current.toggleClosed()),
        own('Selected nights back to the base price', '=', () => now.current.setBase()),
        own('Change many nights', 'b', () => now.current.openBulk()),
        own('Undo the last change', 'u', undo),
      ];
      return [
        own('Earlier nights', '[', () => move(-nights)),
        own('Later nights', ']', () => move(nights)),
        own('From today on', 't', () => set({ from: undefined })),
        own('Open the night', 'n', () => now.current.here()),
        ...(isWriting ? writing : []),
      ];
    }, [move, set, nights, isWriting]),
  );
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement && event.target.value !== '';
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || isTyping) return;
      event.preventDefault();
      undo();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
