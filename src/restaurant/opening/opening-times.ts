import { addDays, dayAt, instantOf, weekdayOf } from '#platform/lib/dates.ts';

/** Span of time in each week in which the restaurant is open, in the time zone of the tenant. */
export interface OpeningTime {
  /** Day on which the span begins: 1 for Monday to 7 for Sunday. */
  weekday: number;
  /** Local time at which the restaurant opens, as `HH:MM`. */
  opens: string;
  /** Local time at which the restaurant closes, as `HH:MM`. If it is not after `opens`, the span ends on the next day. */
  closes: string;
}

/** Time in which the restaurant is open, in milliseconds of Unix time. */
export interface Span {
  fromMs: number;
  untilMs: number;
}

/**
 * Number of earlier days whose opening times are calculated together with those of a given day. A span (the time from opening to closing)
 * may begin on an earlier day and end on the given day. Normally one earlier day would be enough, because a span ends on the day of its
 * begin or on the next day. But a clock change may move the end to the second day after the begin.
 */
const DAYS_BEFORE = 2;
/**
 * Number of days after a given day in which the next opening is searched. A clock change may skip the only opening time of a week, so two
 * weeks are searched. The result of a calculation is cached and used for a day, so it must include one more day.
 */
const DAYS_AFTER = 15;
/**
 * Returns the opening times as spans of instants, for the days around the given time. If a local time occurs twice, its first occurrence
 * counts (`instantOf`). If a clock change skips a local time, a later time takes its place. The new begin of a span may then be after its
 * end. For example, if 02:00 to 03:00 is skipped, a span from 02:30 to 03:00 would begin at 03:30. The function leaves out such a span.
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
