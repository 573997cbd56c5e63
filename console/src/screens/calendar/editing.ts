import { useState } from 'react';
import { formatDate, plural } from '../../ui/format.ts';
import {
  amountOf,
  closableIn,
  nightsIn,
  type NightValue,
  type Place,
  type Row,
  type SeenNight,
  shortPrice,
} from './nights.ts';
import { save } from './writes.ts';

export type Editing = ReturnType<typeof useEditing>;

/** The selected nights, and what is done with them. */
export function useEditing(rows: Row[], dates: string[], mayWrite: boolean) {
  const [corners, setCorners] = useState<[Place, Place]>([
    { row: 1, column: 0 },
    { row: 1, column: 0 },
  ]);
  // The nights of a price that is being typed keep what the person saw at the first key, whatever arrives meanwhile.
  const [draft, setDraft] = useState<{ text: string; nights: SeenNight[] } | null>(null);
  const within = ({ row, column }: Place) => ({
    row: Math.min(row, rows.length - 1),
    column: Math.min(column, dates.length - 1),
  });
  const selection = { anchor: within(corners[0]), focus: within(corners[1]) };
  const nights = mayWrite ? nightsIn(rows, dates, selection) : [];
  const closable = mayWrite ? closableIn(rows, dates, selection) : [];
  const isClosed = closable.length > 0 && closable.every(({ expected }) => expected.is_sold_out);
  const write = (seen: SeenNight[], change: Partial<NightValue>, what: string) =>
    save(
      seen.map((night) => ({ ...night, after: { ...night.expected, ...change } })),
      `${seen.length === 1 ? formatDate(seen[0]?.date ?? '') : plural(seen.length, 'night')} ${what}`,
    );
  /** @param next place to go to @returns false if what is typed is no price */
  const saveDraft = (next?: Place) => {
    const price = amountOf(draft?.text ?? '');
    if (draft === null || price === null) return false;
    write(draft.nights, { price }, `at ${shortPrice(price)}`);
    setDraft(null);
    if (next) setCorners([next, next]);
    return true;
  };
  return {
    selection,
    nights,
    closable,
    draft: draft?.text ?? null,
    isClosed,
    /** Moves the selection. A price that is being typed is saved first, as a spreadsheet does it. */
    select: (anchor: Place, focus = anchor) => {
      saveDraft();
      setDraft(null);
      setCorners([anchor, focus]);
    },
    type: (text: string) => setDraft({ text, nights: draft?.nights ?? nights }),
    save: saveDraft,
    leave: () => setDraft(null),
    setBase: () => write(nights, { price: null }, 'at base price'),
    toggleClosed: () => write(closable, { is_sold_out: !isClosed }, isClosed ? 'opened' : 'closed'),
  };
}
