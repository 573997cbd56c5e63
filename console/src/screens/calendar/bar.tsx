import { Button, type ButtonProps, Group, Text, TextInput } from '@mantine/core';
import type { KeyboardEvent, RefObject } from 'react';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { formatDate, plural } from '../../ui/format.ts';
import type { Editing } from './editing.ts';
import { focusGrid } from './grid.tsx';
import { undo, useWrites } from './writes.ts';

interface Props {
  dates: string[];
  editing: Editing;
  mayWrite: boolean;
  field: RefObject<HTMLInputElement | null>;
  openNight: () => void;
}

/** What is selected, and all that can be done with it: by a thumb, or by the keys that the buttons name. */
export function Bar({ dates, editing, mayWrite, field, openNight }: Props) {
  const { currency } = useMe().tenant;
  const { focus, select, nights, closable, draft, isPrice, isClosed, type, save, leave, setBase, toggleClosed } =
    editing;
  const saveDraft = () => {
    save();
    focusGrid();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = Math.max(0, Math.min(dates.length - 1, focus.column + (event.shiftKey ? -1 : 1)));
    if (event.key === 'Escape') leave();
    else if (event.key === 'Enter' && isPrice) save();
    else if (event.key === 'Tab' && isPrice) select({ ...focus, column: next });
    else return;
    event.preventDefault();
    focusGrid();
  };
  return (
    <Group gap="8px 20px" mih={60} py={10} fz="sm" role="group" aria-label="Selected nights">
      <Where dates={dates} {...editing} />
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
              error={Boolean(draft) && !isPrice}
              value={draft ?? ''}
              onChange={(event) => type(event.currentTarget.value)}
              onKeyDown={onKeyDown}
            />
            {draft !== null && (
              <Button disabled={!isPrice} onClick={saveDraft}>
                Save
              </Button>
            )}
            <KeyButton hotkey="=" label="Base price" disabled={nights.length === 0} onClick={setBase} />
            <KeyButton
              hotkey="s"
              label={isClosed ? 'Open' : 'Close'}
              disabled={closable.length === 0}
              onClick={toggleClosed}
            />
          </>
        ) : (
          <Text inherit c="dimmed">
            Read only. An owner can give you the area Room prices.
          </Text>
        )}
        <KeyButton hotkey="n" label="Night" disabled={focus.column < 0} onClick={openNight} />
      </Group>
    </Group>
  );
}

function Where({ dates, selected, area: { left, right } }: { dates: string[] } & Pick<Editing, 'selected' | 'area'>) {
  const plans = selected.filter(({ plan }) => plan !== null).length;
  const nights = left < 0 ? dates : dates.slice(left, right + 1);
  const ends = [...new Set([nights[0], nights.at(-1)])].map((date = '') => formatDate(date, 'weekday')).join(' – ');
  return (
    <Group gap="0 8px" w={{ base: '100%', sm: 250 }} lh={1.4}>
      <Text inherit truncate fw="bold">
        {selected.length > 1 ? plural(plans, 'plan') : selected[0]?.fullName}
      </Text>
      <Text c="dimmed" fz="xs">
        {ends}, {plural(nights.length, 'night')}
      </Text>
    </Group>
  );
}

/** The way back from the newest write, with the time that is left. */
export function UndoButton() {
  const { undos, sending } = useWrites();
  const now = useNow();
  const newest = undos.at(-1);
  const secondsLeft = Math.ceil(((newest?.until ?? 0) - now) / 1_000);
  const isShown = sending.length === 0 && newest !== undefined && secondsLeft > 0;
  return (
    <Group gap={12} ml="auto" fz="sm">
      <Text inherit visibleFrom="lg" role="status">
        {sending.length > 0 ? 'Saving…' : isShown && newest.label}
      </Text>
      {isShown && <KeyButton hotkey="u" label={`Undo ${secondsLeft} s`} onClick={undo} />}
    </Group>
  );
}

interface KeyButtonProps extends Pick<ButtonProps, 'disabled'> {
  hotkey: string;
  label: string;
  onClick: () => void;
}

/** A quiet button that names its key, where there is room for it. */
function KeyButton({ hotkey, label, ...button }: KeyButtonProps) {
  return (
    <Button variant="default" px={11} {...button}>
      {label}
      <Text span ml={10} fz="xs" c="dimmed" visibleFrom="sm" aria-hidden="true">
        {hotkey}
      </Text>
    </Button>
  );
}
