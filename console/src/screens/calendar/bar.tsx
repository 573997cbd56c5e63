import { Button, Group, TextInput } from '@mantine/core';
import type { KeyboardEvent, RefObject } from 'react';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { formatDate, plural, useFormat } from '../../ui/format.ts';
import classes from './calendar.module.css';
import type { Editing } from './editing.ts';
import { focusGrid } from './grid.tsx';
import { amountOf, areaOf, type Row } from './nights.ts';
import { undo, useWrites } from './writes.ts';

interface Props {
  rows: Row[];
  dates: string[];
  editing: Editing;
  mayWrite: boolean;
  field: RefObject<HTMLInputElement | null>;
  openNight: () => void;
}

/** What is selected, and all that can be done with it: by a thumb, or by the keys that the buttons name. */
export function Bar({ rows, dates, editing, mayWrite, field, openNight }: Props) {
  const { currency } = useMe().tenant;
  const { selection, nights, closable, draft, isClosed, type, save, leave, setBase, toggleClosed } = editing;
  const { row, column } = selection.focus;
  const onKeyDown = (event: KeyboardEvent) => {
    const isMove = event.key === 'Tab' && draft !== null;
    const next = Math.max(0, Math.min(dates.length - 1, column + (event.shiftKey ? -1 : 1)));
    if (event.key === 'Escape') leave();
    else if ((event.key !== 'Enter' && !isMove) || !save(isMove ? { row, column: next } : undefined)) return;
    event.preventDefault();
    focusGrid();
  };
  const button = (label: string, hotkey: string, isOff: boolean, run: () => void) => (
    <Button variant="default" disabled={isOff} rightSection={<kbd aria-hidden="true">{hotkey}</kbd>} onClick={run}>
      {label}
    </Button>
  );
  return (
    <div className={classes.bar} role="group" aria-label="Selected nights">
      <Where rows={rows} dates={dates} editing={editing} />
      <Group gap={8}>
        {mayWrite ? (
          <>
            <TextInput
              ref={field}
              aria-label={`Price in ${currency}`}
              placeholder="Price"
              inputMode="decimal"
              autoComplete="off"
              w={92}
              disabled={nights.length === 0}
              error={draft !== null && draft !== '' && amountOf(draft) === null}
              value={draft ?? ''}
              onChange={(event) => type(event.currentTarget.value)}
              onKeyDown={onKeyDown}
            />
            {draft !== null && <Button onClick={() => save() && focusGrid()}>Save</Button>}
            {button('Base price', '=', nights.length === 0, setBase)}
            {button(isClosed ? 'Open' : 'Close', 's', closable.length === 0, toggleClosed)}
          </>
        ) : (
          <span className={classes.quiet}>Read only. An owner can give you the area Room prices.</span>
        )}
        {button('Night', 'n', column < 0, openNight)}
      </Group>
    </div>
  );
}

function Where({ rows, dates, editing: { selection } }: Pick<Props, 'rows' | 'dates' | 'editing'>) {
  const { money } = useFormat();
  const { top, bottom, left, right } = areaOf(selection);
  const { type, plan } = rows[top] ?? {};
  const plans = rows.slice(top, bottom + 1).filter((row) => row.plan !== null).length;
  const nights = left < 0 ? dates : dates.slice(left, right + 1);
  const ends = [...new Set([nights[0], nights.at(-1)])].map((date = '') => formatDate(date, 'weekday')).join(' – ');
  const one = top === bottom && nights.length === 1 ? plan : null;
  return (
    <div className={classes.where}>
      <b>{top < bottom ? plural(plans, 'plan') : `${type?.name}, ${plan?.name ?? 'rooms'}`}</b>
      <span className={classes.quiet}>
        {ends}
        {nights.length > 1 && `, ${plural(nights.length, 'night')}`}
        {one && `: ${money(one.prices[left] ?? '')} ${one.is_own[left] ? 'own' : 'base'} price`}
        {one?.closed[left] && ', closed'}
      </span>
    </div>
  );
}

/** The way back from the newest write, with the time that is left. */
export function UndoButton() {
  const { undos, painted } = useWrites();
  const now = useNow();
  const newest = undos.at(-1);
  const secondsLeft = Math.ceil(((newest?.until ?? 0) - now) / 1_000);
  const isShown = painted.size === 0 && newest !== undefined && secondsLeft > 0;
  return (
    <Group gap={12} ml="auto" role="status" className={classes.undo}>
      <span>{painted.size > 0 ? 'Saving…' : isShown && newest.label}</span>
      {isShown && (
        <Button variant="default" rightSection={<kbd aria-hidden="true">u</kbd>} onClick={undo}>
          Undo<span aria-hidden="true">&nbsp;{secondsLeft} s</span>
        </Button>
      )}
    </Group>
  );
}
