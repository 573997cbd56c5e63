import { addDays, dayAt, instantOf, weekdayOf } from '#platform/lib/dates.ts';

export interface OpeningTime {
  /** 1 for Monday to 7 for Sunday. */
  weekday: number;
  opens: string;
  /** `HH:MM`. If it is not after `opens`, the span ends on the next day. */
  closes: string;
}

/** In milliseconds of Unix time. */
export interface Span {
  fromMs: number;
  untilMs: number;
}

/** A span ends on the day of its begin or on the next day, but a clock change may move the end to the second day. */
const DAYS_BEFORE = 2;
/** A clock change may skip the only opening time of a week. The result is used for a day, so it includes one more day. */
const DAYS_AFTER = 15;
/**
 * If a local time occurs twice, its first occurrence counts (`instantOf`). If a clock change skips a local time, a later time takes its
 * place. A span that would then begin after its end is left out.
 */
export function spansAround(times: readonly OpeningTime[], timezone: string, atMs: number): Span[] {
  const today = dayAt(atMs, timezone);
  const days = Array.from({ length: DAYS_BEFORE + DAYS_AFTER + 1 }, (_, index) => addDays(today, index - DAYS_BEFORE));
  const msOf = (day: string, time: string) => Date.parse(instantOf(day, time, timezone));
  return days
    .flatMap((day) =>
      times
        .filter(({ weekday }) => weekday === weekdayOf(day))
        .map(({ opens, closes }) => ({
          fromMs: msOf(day, opens),
          untilMs: msOf(closes <= opens ? addDays(day, 1) : day, closes),
        })),
    )
    .filter(({ fromMs, untilMs }) => fromMs < untilMs);
}
