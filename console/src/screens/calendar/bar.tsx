import { Button, Group, Text, TextInput } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { formatDate, plural, TYPE_PRICE } from '../../ui/format.ts';
import { useStore } from '../../ui/store.ts';
import { type Editing, focusGrid, PRICE_ID } from './editing.ts';
import { underWay, undo, undos } from './nights.ts';

/** Words about a wrong price stand beside the field, so that the bar keeps its height. */
const FIELD = { root: { display: 'flex', alignItems: 'center', gap: 10 }, wrapper: { margin: 0, width: 92 } } as const;

/** What is selected, and all that can be done with it: by a thumb, or by the keys that the buttons name. */
export function Bar({ editing, openNight }: { editing: Editing; openNight: () => void }) {
  const { currency } = useMe().tenant;
  const { dates, mayWrite, focus, area, selected, select, nights, closable, draft, isPrice } = editing;
  const plans = selected.filter(({ plan }) => plan !== null).length;
  const shown = area.left < 0 ? dates : dates.slice(area.left, area.right + 1);
  const ends = [...new Set([shown[0], shown.at(-1)])].map((date = '') => formatDate(date, 'weekday')).join(' – ');
  const save = () => {
    editing.save();
    focusGrid();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = Math.max(0, focus.column + (event.shiftKey ? -1 : 1));
    if (event.key === 'Escape') editing.leave();
    else if (event.key === 'Enter' && isPrice) editing.save();
    else if (event.key === 'Tab' && isPrice) select({ ...focus, column: next });
    else return;
    event.preventDefault();
    focusGrid();
  };
  return (
    <Group gap="8px 20px" mih={60} py={10} fz="sm" role="group" aria-label="Selected nights">
      <Group gap="0 8px" w={{ base: '100%', sm: 250 }} lh={1.4}>
        <Text inherit truncate fw="bold">
          {selected.length > 1 ? plural(plans, 'plan') : selected[0]?.fullName}
        </Text>
        <Text c="dimmed" fz="xs">
          {ends}, {plural(shown.length, 'night')}
        </Text>
      </Group>
      <Group gap={8}>
        {mayWrite ? (
          <>
            <TextInput
              id={PRICE_ID}
              aria-label={`Price in ${currency}`}
              placeholder="Price"
              inputMode="decimal"
              autoComplete="off"
              styles={FIELD}
              disabled={nights.length === 0}
              error={draft && !isPrice && TYPE_PRICE}
              errorProps={{ role: 'alert' }}
              value={draft ?? ''}
              onChange={(event) => editing.type(event.currentTarget.value)}
              onKeyDown={onKeyDown}
            />
            {isPrice && <Button onClick={save}>Save</Button>}
            <KeyButton hotkey="=" label="Base price" disabled={nights.length === 0} onClick={editing.setBase} />
            <KeyButton
              hotkey="s"
              label={editing.isClosed ? 'Open' : 'Close'}
              disabled={closable.length === 0}
              onClick={editing.toggleClosed}
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

/** The way back from the newest write, with the time that is left. */
export function UndoButton() {
  const isSending = useStore(underWay).length > 0;
  const newest = useStore(undos).at(-1);
  const now = useNow();
  const secondsLeft = Math.ceil(((newest?.until ?? 0) - now) / 1_000);
  const isShown = !isSending && newest !== undefined && secondsLeft > 0;
  return (
    <Group gap={12} ml="auto" fz="sm">
      <Text inherit visibleFrom="lg" role="status">
        {isSending ? 'Saving…' : isShown && newest.label}
      </Text>
      {isShown && <KeyButton hotkey="u" label={`Undo ${secondsLeft} s`} onClick={undo} />}
    </Group>
  );
}

interface KeyButtonProps {
  hotkey: string;
  label: string;
  disabled?: boolean;
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
