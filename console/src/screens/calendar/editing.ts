import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { amountOf, formatDate, plural, TYPE_PRICE } from '../../ui/format.ts';
import { type Change, type NightValue, save, shortPrice } from './nights.ts';
import type { Row } from './rows.tsx';

/** A cell of the grid. Column -1 is the name of the row. */
export interface Place {
  row: number;
  column: number;
}

type SeenNight = Omit<Change, 'after'>;
export type Editing = ReturnType<typeof useEditing>;

const START = { row: 1, column: 0 };

/** The selected nights, and what is done with them. */
export function useEditing(rows: Row[], dates: string[], mayWrite: boolean) {
  // A rectangle between two corners, of which the focus is the one that moves.
  const [corners, setCorners] = useState({ anchor: START, focus: START });
  // The nights of a price that is being typed keep what the person saw at the first key, whatever arrives meanwhile.
  const [draft, setDraft] = useState<{ text: string; nights: SeenNight[] } | null>(null);
  const within = ({ row, column }: Place) => ({
    row: Math.min(row, rows.length - 1),
    column: Math.min(column, dates.length - 1),
  });
  const [anchor, focus] = [within(corners.anchor), within(corners.focus)];
  const area = {
    top: Math.min(anchor.row, focus.row),
    bottom: Math.max(anchor.row, focus.row),
    left: Math.min(anchor.column, focus.column),
    right: Math.max(anchor.column, focus.column),
  };
  const selected = rows.slice(area.top, area.bottom + 1);
  const nightsOf = ({ plan, values }: Row): SeenNight[] =>
    values.slice(area.left, area.right + 1).map((before, index) => ({
      rate_plan_id: plan?.id ?? '',
      date: dates[area.left + index] ?? '',
      before,
    }));
  const writable = mayWrite && area.left >= 0;
  const nights = writable ? selected.flatMap(nightsOf) : [];
  // The line of a room type closes all of its plans.
  const isClosable = (row: Row) =>
    selected.some((each) => each === row || (each.plan === null && each.type === row.type));
  const closable = writable ? rows.filter(isClosable).flatMap(nightsOf) : [];
  const isClosed = closable.length > 0 && closable.every(({ before }) => before.is_sold_out);
  const write = (seen: SeenNight[], change: Partial<NightValue>, what: string) =>
    save(
      seen.map((night) => ({ ...night, after: { ...night.before, ...change } })),
      `${wordsOf(seen)} ${what}`,
    );
  const price = amountOf(draft?.text ?? '');
  const saveDraft = () => {
    if (draft && price !== null) write(draft.nights, { price }, `at ${shortPrice(price)}`);
    else if (draft?.text)
      notifications.show({ title: `Not saved: “${draft.text}”`, message: TYPE_PRICE, color: 'red' });
    setDraft(null);
  };
  return {
    rows,
    dates,
    mayWrite,
    focus,
    area,
    selected,
    /** Nights of the selection that the person may change. */
    nights,
    /** Those that it may close or open. */
    closable,
    isClosed,
    draft: draft?.text ?? null,
    isPrice: price !== null,
    /** Moves the selection. A price that is being typed is saved first, as a spreadsheet does it. */
    select: (to: Place, isExtending = false) => {
      saveDraft();
      setCorners({ anchor: isExtending ? anchor : within(to), focus: within(to) });
    },
    type: (text: string) => setDraft({ text, nights: draft?.nights ?? nights }),
    save: saveDraft,
    leave: () => setDraft(null),
    setBase: () => write(nights, { price: null }, 'at base price'),
    toggleClosed: () => write(closable, { is_sold_out: !isClosed }, isClosed ? 'opened' : 'closed'),
  };
}

function wordsOf(seen: SeenNight[]): string {
  const dates = new Set(seen.map(({ date }) => date));
  const [only] = dates;
  return dates.size === 1 && only !== undefined ? formatDate(only) : plural(dates.size, 'night');
}

export const PRICE_ID = 'price';

export function focusPrice(): void {
  document.getElementById(PRICE_ID)?.focus();
}

export function focusGrid(): void {
  document.querySelector<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
}
