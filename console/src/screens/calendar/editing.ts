import { useState } from 'react';
import { formatDate, plural } from '../../ui/format.ts';
import { amountOf, type Change, type NightValue, shortPrice } from './nights.ts';
import type { Row } from './rows.tsx';
import { save } from './writes.ts';

/** A cell of the grid. Column -1 is the name of the row. */
export interface Place {
  row: number;
  column: number;
}

/** A rectangle of the grid. `focus` is the corner that moves. */
interface Selection {
  anchor: Place;
  focus: Place;
}

type SeenNight = Omit<Change, 'after'>;
export type Editing = ReturnType<typeof useEditing>;

const START = { row: 1, column: 0 };

/** The selected nights, and what is done with them. */
export function useEditing(rows: Row[], dates: string[], mayWrite: boolean) {
  const [corners, setCorners] = useState<Selection>({ anchor: START, focus: START });
  // The nights of a price that is being typed keep what the person saw at the first key, whatever arrives meanwhile.
  const [draft, setDraft] = useState<{ text: string; nights: SeenNight[] } | null>(null);
  const within = ({ row, column }: Place) => ({
    row: Math.min(row, rows.length - 1),
    column: Math.min(column, dates.length - 1),
  });
  const selection = { anchor: within(corners.anchor), focus: within(corners.focus) };
  const nights = mayWrite ? nightsIn(rows, dates, selection) : [];
  const isClosed = nights.length > 0 && nights.every(({ expected }) => expected.is_sold_out);
  const write = (seen: SeenNight[], change: Partial<NightValue>, what: string) =>
    save(
      seen.map((night) => ({ ...night, after: { ...night.expected, ...change } })),
      `${seen.length === 1 ? formatDate(seen[0]?.date ?? '') : plural(seen.length, 'night')} ${what}`,
    );
  /** @returns false if what is typed is no price */
  const saveDraft = () => {
    const price = amountOf(draft?.text ?? '');
    if (draft === null || price === null) return false;
    write(draft.nights, { price }, `at ${shortPrice(price)}`);
    setDraft(null);
    return true;
  };
  return {
    selection,
    nights,
    draft: draft?.text ?? null,
    isClosed,
    /** Moves the selection. A price that is being typed is saved first, as a spreadsheet does it. */
    select: (anchor: Place, focus = anchor) => {
      saveDraft();
      setDraft(null);
      setCorners({ anchor, focus });
    },
    type: (text: string) => setDraft({ text, nights: draft?.nights ?? nights }),
    save: saveDraft,
    leave: () => setDraft(null),
    setBase: () => write(nights, { price: null }, 'at base price'),
    toggleClosed: () => write(nights, { is_sold_out: !isClosed }, isClosed ? 'opened' : 'closed'),
  };
}

export function areaOf({ anchor, focus }: Selection) {
  return {
    top: Math.min(anchor.row, focus.row),
    bottom: Math.max(anchor.row, focus.row),
    left: Math.min(anchor.column, focus.column),
    right: Math.max(anchor.column, focus.column),
  };
}

/** Returns the nights of the plans in the selection. Rows of room types have no price, so they are left out. */
function nightsIn(rows: Row[], dates: string[], selection: Selection): SeenNight[] {
  const { top, bottom, left, right } = areaOf(selection);
  if (left < 0) return [];
  return rows.slice(top, bottom + 1).flatMap(({ plan, values }) =>
    values.slice(left, right + 1).map((expected, index) => ({
      rate_plan_id: plan?.id ?? '',
      date: dates[left + index] ?? '',
      expected,
    })),
  );
}
