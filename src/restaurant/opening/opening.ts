/** Pause and opening hours: whether the restaurant takes new orders. */
import { isDeepStrictEqual } from 'node:util';
import { type Actor, type NewAuditEntry, prepareAudit } from '#access/audit/audit.ts';
import { announceChange, type Caches, type TenantCache } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, invalidField } from '#platform/errors.ts';
import { type OpeningTime, type Span, spansAround } from './opening-times.ts';
import type { OpeningHoursDocument, PauseStart, PauseState } from './schema.ts';
import * as store from './store.ts';

interface Pause {
  /** Null if the pause lasts until staff end it. */
  until: Date | null;
}

interface OpeningState {
  isOpen: boolean;
  /** True during a pause, also outside the opening hours. */
  isPaused: boolean;
  /** Null if the restaurant is open, if its pause has no end, or if the next opening cannot be calculated. */
  reopensAtMs: number | null;
}

const DAY_MS = 86_400_000;
/** The calculation needs the following days, and a day after the year 9999 cannot be written as `YYYY-MM-DD`. */
const LAST_MS = Date.parse('9999-01-01T00:00:00Z');
const MAX_TENANTS = 50_000;

/** @throws ApiError 409 `restaurant_closed`, with `Retry-After` in seconds if the time of the next opening is known */
export type RefuseIfClosed = (tenantId: number) => Promise<void>;

export function createRefuseIfClosed({ db, caches }: { db: Database; caches: Caches }): RefuseIfClosed {
  const cache: TenantCache<{ hours: OpeningHours; pause: Pause | null }> = caches.createCache(MAX_TENANTS);
  const read = async (tenantId: number) => {
    const stored = await withRetries(() => store.readOpening(db, tenantId));
    return { hours: new OpeningHours(stored.hours, stored.timezone), pause: pauseOf(stored) };
  };
  return async (tenantId) => {
    const { hours, pause } = cache.get(tenantId) ?? (await cache.load(tenantId, tenantId, () => read(tenantId)));
    const nowMs = Date.now();
    const { isOpen, reopensAtMs } = openingStateAt(nowMs, hours, pause);
    if (!isOpen) {
      throw closed(nowMs, reopensAtMs);
    }
  };
}

/** Reads the database and not the cache, so the result is never out of date. */
export async function showPause(db: Database, tenantId: number): Promise<PauseState> {
  const stored = await store.readOpening(db, tenantId);
  const hours = new OpeningHours(stored.hours, stored.timezone);
  const { isOpen, isPaused, reopensAtMs } = openingStateAt(Date.now(), hours, pauseOf(stored));
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
  const now = new Date();
  await changeOpening(db, actor, async (tx, { is_paused, paused_until }) => {
    if (!is_paused || (paused_until !== null && paused_until <= now)) {
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

function pauseOf({ is_paused, paused_until }: store.StoredOpening): Pause | null {
  return is_paused ? { until: paused_until } : null;
}

function closed(nowMs: number, reopensAtMs: number | null): Error {
  return reopensAtMs === null
    ? apiError('restaurant_closed', 'The restaurant is closed, and the time of its next opening is not known.')
    : apiError('restaurant_closed', `The restaurant is closed until ${new Date(reopensAtMs).toISOString()}.`, {
        'retry-after': String(Math.ceil((reopensAtMs - nowMs) / 1_000)),
      });
}

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

  isOpenAt(atMs: number): boolean {
    return this.#times.length === 0 || this.#spansAround(atMs).some((span) => contains(span, atMs));
  }

  /** Returns the given time if the restaurant is open then. Returns null if no next opening can be calculated. */
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

export function openingStateAt(atMs: number, hours: OpeningHours, pause: Pause | null): OpeningState {
  const isPaused = pause !== null && (pause.until === null || pause.until.getTime() > atMs);
  if (!isPaused && hours.isOpenAt(atMs)) {
    return { isOpen: true, isPaused, reopensAtMs: null };
  }
  const endMs = isPaused ? (pause.until?.getTime() ?? null) : atMs;
  return { isOpen: false, isPaused, reopensAtMs: endMs === null ? null : hours.nextOpening(endMs) };
}

function contains({ fromMs, untilMs }: Span, atMs: number): boolean {
  return fromMs <= atMs && atMs < untilMs;
}
