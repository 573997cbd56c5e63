/** Pause and opening hours: whether the restaurant takes new orders. */
import { isDeepStrictEqual } from 'node:util';
import { type Actor, type NewAuditEntry, prepareAudit } from '#access/audit/audit.ts';
import { announceChange, type Caches, type TenantCache } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, invalidField } from '#platform/errors.ts';
import { addDays, dayAt, instantOf, weekdayOf } from '#platform/lib/dates.ts';
import type { OpeningHoursDocument, PauseStart, PauseState } from './schema.ts';
import * as store from './store.ts';

type OpeningTime = OpeningHoursDocument['hours'][number];

const MAX_TENANTS = 50_000;

/** @throws ApiError 409 `restaurant_closed`, with `Retry-After` in seconds if the time of the next opening is known */
export type RefuseIfClosed = (tenantId: number) => Promise<void>;

export function createRefuseIfClosed({ db, caches }: { db: Database; caches: Caches }): RefuseIfClosed {
  const cache: TenantCache<{ hours: OpeningHours; pausedUntilMs: number }> = caches.createCache(MAX_TENANTS);
  const read = async (tenantId: number) => {
    const stored = await withRetries(() => store.readOpening(db, tenantId));
    return { hours: new OpeningHours(stored.hours, stored.timezone), pausedUntilMs: endOfPause(stored) };
  };
  return async (tenantId) => {
    const { hours, pausedUntilMs } =
      cache.get(tenantId) ?? (await cache.load(tenantId, tenantId, () => read(tenantId)));
    const nowMs = Date.now();
    const { isOpen, reopensAtMs } = openingStateAt(nowMs, hours, pausedUntilMs);
    if (!isOpen) {
      throw closed(nowMs, reopensAtMs);
    }
  };
}

/** Reads the database and not the cache, so the result is never out of date. */
export async function showPause(db: Database, tenantId: number): Promise<PauseState> {
  const stored = await store.readOpening(db, tenantId);
  const hours = new OpeningHours(stored.hours, stored.timezone);
  const { isOpen, isPaused, reopensAtMs } = openingStateAt(Date.now(), hours, endOfPause(stored));
  return {
    is_open: isOpen,
    until: isPaused ? (stored.paused_until?.toISOString() ?? null) : null,
    reason: isPaused ? stored.pause_reason : null,
    reopens_at: reopensAtMs === null ? null : new Date(reopensAtMs).toISOString(),
  };
}

/** @throws ApiError 400 `invalid_request` if the end is not in the future */
export async function startPause(db: Database, actor: Actor, { until, reason }: PauseStart): Promise<void> {
  const end = until === undefined ? null : new Date(until);
  if (end !== null && end.getTime() <= Date.now()) {
    throw invalidField('until', 'must be in the future. Leave it out for a pause without a known end');
  }
  await changeOpening(db, actor, async (tx) => {
    const change = { is_paused: true, paused_until: end, pause_reason: reason ?? null };
    await store.updateOpening(tx, actor.tenantId, change);
    const details = { until: end?.toISOString() ?? null, reason: reason ?? null };
    return { action: 'pause.started', subject: String(actor.tenantId), details };
  });
}

export async function endPause(db: Database, actor: Actor): Promise<void> {
  const nowMs = Date.now();
  await changeOpening(db, actor, async (tx, stored) => {
    if (endOfPause(stored) <= nowMs) {
      return null;
    }
    await store.updateOpening(tx, actor.tenantId, { is_paused: false, paused_until: null, pause_reason: null });
    return { action: 'pause.ended', subject: String(actor.tenantId), details: {} };
  });
}

export async function readHours(db: Database, tenantId: number): Promise<OpeningHoursDocument> {
  return { hours: (await store.readOpening(db, tenantId)).hours };
}

export async function replaceHours(db: Database, actor: Actor, { hours }: OpeningHoursDocument): Promise<void> {
  const wanted: OpeningTime[] = hours.map(({ weekday, opens, closes }) => ({ weekday, opens, closes }));
  await changeOpening(db, actor, async (tx, stored) => {
    if (isDeepStrictEqual(wanted, stored.hours)) {
      return null;
    }
    await store.updateOpening(tx, actor.tenantId, { hours: JSON.stringify(wanted) });
    return { action: 'opening_hours.changed', subject: String(actor.tenantId), details: { hours: wanted } };
  });
}

/** If `change` writes new values, it must return an audit entry, and otherwise null. */
async function changeOpening(
  db: Database,
  actor: Actor,
  change: (tx: Tx, stored: Awaited<ReturnType<typeof store.lockOpening>>) => Promise<NewAuditEntry | null>,
): Promise<void> {
  const writeDown = prepareAudit(actor);
  await inTransaction(db, async (tx) => {
    const entry = await change(tx, await store.lockOpening(tx, actor.tenantId));
    if (entry !== null) {
      await writeDown(tx, entry);
      await announceChange(tx, actor.tenantId);
    }
  });
}

/** Returns milliseconds of Unix time: infinite if the pause lasts until staff end it, and negative infinite if there is no pause. */
function endOfPause({ is_paused, paused_until }: Pick<store.StoredOpening, 'is_paused' | 'paused_until'>): number {
  return is_paused ? (paused_until?.getTime() ?? Infinity) : -Infinity;
}

function closed(nowMs: number, reopensAtMs: number | null): Error {
  return reopensAtMs === null
    ? apiError('restaurant_closed', 'The restaurant is closed, and the time of its next opening is not known.')
    : apiError('restaurant_closed', `The restaurant is closed until ${new Date(reopensAtMs).toISOString()}.`, {
        'retry-after': String(Math.ceil((reopensAtMs - nowMs) / 1_000)),
      });
}

/** `reopensAtMs` is null if the restaurant is open, if its pause has no end, or if the next opening cannot be calculated. */
export function openingStateAt(atMs: number, hours: OpeningHours, pausedUntilMs: number) {
  const opensAtMs = pausedUntilMs === Infinity ? null : hours.nextOpening(Math.max(atMs, pausedUntilMs));
  const isOpen = opensAtMs === atMs;
  return { isOpen, isPaused: pausedUntilMs > atMs, reopensAtMs: isOpen ? null : opensAtMs };
}

/** In milliseconds of Unix time. */
interface Span {
  fromMs: number;
  untilMs: number;
}

const DAY_MS = 86_400_000;
/** The calculation needs the following days, and a day after the year 9999 cannot be written as `YYYY-MM-DD`. */
const LAST_MS = Date.parse('9999-01-01T00:00:00Z');

/** An empty list means that the restaurant is always open. */
export class OpeningHours {
  readonly #times: readonly OpeningTime[];
  readonly #timezone: string;
  /** A calculation of the spans takes a millisecond, so they are kept for one day from `#spansOfMs`. */
  #spans: Span[] = [];
  #spansOfMs = Number.NaN;

  constructor(times: readonly OpeningTime[], timezone: string) {
    this.#times = times;
    this.#timezone = timezone;
  }

  /** Returns the given time if the restaurant is open then. Returns null if no next opening can be calculated. */
  nextOpening(atMs: number): number | null {
    if (this.#times.length === 0) {
      return atMs;
    }
    const spans = this.#spansAround(atMs).filter(({ untilMs }) => untilMs > atMs);
    return spans.length === 0 ? null : Math.max(atMs, Math.min(...spans.map(({ fromMs }) => fromMs)));
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

/** A span ends on the day of its begin or on the next day, but a clock change may move the end to the second day. */
const DAYS_BEFORE = 2;
/** A clock change may skip the only opening time of a week. The result is used for a day, so it includes one more day. */
const DAYS_AFTER = 15;

/**
 * If a local time occurs twice, its first occurrence counts (`instantOf`). If a clock change skips a local time, a later time takes its
 * place. A span that would then begin after its end is left out.
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
