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

/** Break in which the restaurant takes no orders. */
export interface Pause {
  /** End of the pause. Null if the pause lasts until staff end it. */
  until: Date | null;
}

export interface OpeningState {
  isOpen: boolean;
  /** True during a pause, also outside the opening hours. False if the restaurant is open, or if only its opening hours close it. */
  isPaused: boolean;
  /**
   * Milliseconds of Unix time at which the restaurant opens. Null if it is open now, if its pause has no end, or if the next opening cannot
   * be calculated.
   */
  reopensAtMs: number | null;
}

interface Span {
  fromMs: number;
  untilMs: number;
}

const DAY_MS = 86_400_000;
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
 * Time in milliseconds of Unix time from which on no opening times are calculated. The calculation also needs the following days, and a day
 * after the year 9999 cannot be written as `YYYY-MM-DD`.
 */
const LAST_MS = Date.parse('9999-01-01T00:00:00Z');

/** Opening hours of a restaurant. An empty list means that the restaurant is always open. */
export class OpeningHours {
  readonly #times: readonly OpeningTime[];
  readonly #timezone: string;
  /**
   * Opening times as spans of instants, for the days before and after the time `#spansOfMs`. A calculation of the spans takes a
   * millisecond, which is too long for each call. So the spans are kept for one day from `#spansOfMs`, and then calculated again.
   */
  #spans: Span[] = [];
  #spansOfMs = Number.NaN;

  constructor(times: readonly OpeningTime[], timezone: string) {
    this.#times = times;
    this.#timezone = timezone;
  }

  isOpenAt(atMs: number): boolean {
    return this.#times.length === 0 || this.#spansAround(atMs).some((span) => contains(span, atMs));
  }

  /**
   * Returns the given time if the restaurant is open then, and otherwise the time of the next opening. Returns null if no next opening can
   * be calculated.
   */
  nextOpening(atMs: number): number | null {
    if (this.isOpenAt(atMs)) {
      return atMs;
    }
    const begins = this.#spansAround(atMs).map(({ fromMs }) => fromMs);
    const later = begins.filter((fromMs) => fromMs > atMs);
    return later.length === 0 ? null : Math.min(...later);
  }

  #spansAround(atMs: number): Span[] {
    const sinceMs = atMs - this.#spansOfMs;
    if (!(sinceMs >= 0 && sinceMs < DAY_MS)) {
      this.#spans = atMs < LAST_MS ? spansAround(this.#times, this.#timezone, atMs) : [];
      this.#spansOfMs = atMs;
    }
    return this.#spans;
  }
}

/**
 * Returns the state of the restaurant at a time. For a closed restaurant, the state contains the time of the next opening, if it is known.
 * A pause closes the restaurant until `pause.until`, or without end if `until` is null.
 */
export function openingStateAt(atMs: number, hours: OpeningHours, pause: Pause | null): OpeningState {
  const isPaused = pause !== null && (pause.until === null || pause.until.getTime() > atMs);
  if (!isPaused && hours.isOpenAt(atMs)) {
    return { isOpen: true, isPaused, reopensAtMs: null };
  }
  const endMs = isPaused ? (pause.until?.getTime() ?? null) : atMs;
  return { isOpen: false, isPaused, reopensAtMs: endMs === null ? null : hours.nextOpening(endMs) };
}

/**
 * Returns the opening times as spans of instants, for the days around the given time. If a local time occurs twice, its first occurrence
 * counts (`instantOf`). If a clock change skips a local time, a later time takes its place. The new begin of a span may then be after its
 * end. For example, if 02:00 to 03:00 is skipped, a span from 02:30 to 03:00 would begin at 03:30. The function leaves out such a span.
 */
function spansAround(times: readonly OpeningTime[], timezone: string, atMs: number): Span[] {
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

function contains({ fromMs, untilMs }: Span, atMs: number): boolean {
  return fromMs <= atMs && atMs < untilMs;
}
