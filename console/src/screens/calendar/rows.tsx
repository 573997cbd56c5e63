import type { ReactNode } from 'react';
import { formatDate, plural, weekday } from '../../ui/format.ts';
import {
  type CalendarData,
  datesOf,
  keyOf,
  type NightValue,
  type Plan,
  type RoomType,
  shortPrice,
  valueAt,
} from './nights.ts';

interface Cell {
  content: ReactNode;
  /** The content for a screen reader, if it does not stand for itself. */
  words?: string;
  state?: string;
  /** Colour by the share of rooms that are held. */
  heat?: string;
}

export interface Line {
  kind: 'dates' | 'house' | 'type' | 'plan';
  name: string;
  aside?: string;
  /** Name for those who do not see the line above. */
  fullName: string;
  cellOf: (column: number) => Cell;
}

/** The rooms of a type, or the prices of one of its plans. */
export interface Row extends Line {
  type: RoomType;
  plan: Plan | null;
  /** What a plan has night by night. */
  values: NightValue[];
}

/** Returns the rows of a calendar. `painted`, by `keyOf`, are values that are being written. */
export function rowsOf(calendar: CalendarData, painted: ReadonlyMap<string, NightValue>): Row[] {
  const dates = datesOf(calendar);
  const valuesOf = (plan: Plan) =>
    dates.map((date, column) => painted.get(keyOf({ rate_plan_id: plan.id, date })) ?? valueAt(plan, column));
  return calendar.room_types.flatMap((type) => [
    roomsRow(type),
    ...type.rate_plans.map((plan) => priceRow(type, plan, valuesOf(plan))),
  ]);
}

function roomsRow(type: RoomType): Row {
  const { name, physical_capacity: capacity } = type;
  const cellOf = (column: number) => {
    const held = type.held[column] ?? 0;
    const left = capacity - held;
    const [state, text] = left < 0 ? ['over', `${-left} over`] : left === 0 ? ['full', 'Full'] : ['', `${left} left`];
    const words = `${text} ${held}/${capacity} held${left < 0 ? ', oversold' : ''}`;
    const content = (
      <>
        <b>{text}</b> <small>{`${held}/${capacity}`}</small>
      </>
    );
    return { state, words, content };
  };
  return { kind: 'type', name, fullName: name, aside: plural(capacity, 'room'), cellOf, type, plan: null, values: [] };
}

function priceRow(type: RoomType, plan: Plan, values: NightValue[]): Row {
  const { name, base_price: base, min_nights: least } = plan;
  const aside = `${least > 1 ? `${least}+ nights, ` : ''}${shortPrice(base)}`;
  const cellOf = (column: number) => {
    const { price = null, is_sold_out: isClosed = false } = values[column] ?? {};
    const kind = price === null ? 'base' : 'own';
    const content = shortPrice(price ?? base);
    const words = `${content}, ${kind} price${isClosed ? ', closed' : ''}`;
    return { state: `${kind} ${isClosed ? 'closed' : ''}`, words, content };
  };
  return { kind: 'plan', name, fullName: `${type.name}, ${name}`, aside, cellOf, type, plan, values };
}

/** Share of all rooms that are held, as a strip of heat. */
export function houseLine(types: RoomType[]): Line {
  const rooms = types.reduce((sum, type) => sum + type.physical_capacity, 0);
  const cellOf = (column: number) => {
    const held = types.reduce((sum, type) => sum + (type.held[column] ?? 0), 0);
    const percent = rooms === 0 ? 0 : Math.round((held / rooms) * 100);
    const heat = `color-mix(in srgb, var(--rs-accent) ${percent * 0.44}%, var(--rs-surface))`;
    return {
      ...(held > rooms ? { state: 'over' } : { heat }),
      words: `${percent}%, ${held} of ${plural(rooms, 'room')} held`,
      content: `${percent}%`,
    };
  };
  return { kind: 'house', name: 'All rooms', fullName: 'All rooms', aside: plural(rooms, 'room'), cellOf };
}

export function datesLine(dates: string[], today: string): Line {
  const cellOf = (column: number) => {
    const date = dates[column] ?? today;
    const content = (
      <>
        <small>{date === today ? 'Today' : weekday.format(new Date(date))}</small> <b>{formatDate(date)}</b>
      </>
    );
    return { content };
  };
  return { kind: 'dates', name: 'Nights', fullName: 'Nights', cellOf };
}
