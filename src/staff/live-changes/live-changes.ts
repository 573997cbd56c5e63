import type { Logger } from 'pino';
import { findEndedCallers } from '#access/sessions/sessions.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { ChangeRow, RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { sharesOf } from '#platform/db/inputs.ts';
import { coalesce } from '#platform/lib/coalesce.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import * as store from './store.ts';
import type { Subscription } from './subscription.ts';
import { topicsOfChange, topicsOfRows } from './topics.ts';

const LOOK_EVERY_MS = 500;
/** A look reads the rows of this time. A row that is committed later than this after its time is not told. */
const WINDOW_MS = 60_000;
/** Time from a write of this process until it looks at the tenant, and least time between two looks that such writes cause. */
const WAKE_AFTER_MS = 30;
const WAKE_GAP_MS = 100;
/** Time between two checks of the access of all callers. A stream ends within 2 s after its caller has lost its access. */
const CHECK_EVERY_MS = 1_000;

interface Dependencies {
  db: Database;
  changes: Pick<RecentChanges, 'onChanges'>;
  /** Records that the session of a display is in use. */
  noteUse: (caller: Staff) => void;
  log: Logger;
}

interface Watch {
  subscriptions: Set<Subscription>;
  /** Moment from which the next look counts, and what the last look has counted from there. Null before the first look. */
  base: { since: store.Moment; numbers: ReadonlyMap<string, number> } | null;
}

/**
 * Tells callers by hints that data of their tenant has changed. Changes come from two sources: looks, which are regular reads of the newest
 * rows of the tenants that have open streams on this process, and the list of recent changes.
 */
export class LiveChanges {
  readonly #deps: Dependencies;
  readonly #watches = new Map<number, Watch>();
  /** Tenants that the next look includes. */
  readonly #due = new Set<number>();
  /** Only one look runs at a time, because each look is compared with the previous one. */
  readonly #look = coalesce(() => this.#lookAtDue());
  readonly #polls: Poll[];
  #waking: NodeJS.Timeout | undefined;
  #wokenAtMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    deps.changes.onChanges((changes) => this.#hear(changes));
    const onError = (error: unknown) => this.#note(error);
    this.#polls = [
      poll(LOOK_EVERY_MS, () => this.#lookAtAll(), onError),
      poll(CHECK_EVERY_MS, () => this.#endLost(), onError),
    ];
  }

  add(subscription: Subscription): void {
    const { id } = subscription.staff.tenant;
    const watch = this.#watches.get(id) ?? { subscriptions: new Set(), base: null };
    this.#watches.set(id, watch);
    watch.subscriptions.add(subscription);
    if (watch.base === null) {
      this.#due.add(id);
      void this.#look();
    } else {
      subscription.resync();
    }
  }

  remove(subscription: Subscription): void {
    const { id } = subscription.staff.tenant;
    const subscriptions = this.#watches.get(id)?.subscriptions;
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) {
      this.#watches.delete(id);
    }
  }

  /** Returns true if a stream of the tenant is open on this process. */
  isWatched(tenantId: number): boolean {
    return this.#watches.has(tenantId);
  }

  /** Called when this process has changed data of the tenant. */
  wake(tenantId: number): void {
    if (this.#watches.has(tenantId)) {
      this.#due.add(tenantId);
      const waitMs = Math.max(WAKE_AFTER_MS, this.#wokenAtMs + WAKE_GAP_MS - performance.now());
      this.#waking ??= setTimeout(() => this.#lookAtWoken(), waitMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#waking);
    this.#watches.clear();
    await Promise.all(this.#polls.map((each) => each.close()));
    await this.#look();
  }

  #lookAtWoken(): void {
    this.#waking = undefined;
    this.#wokenAtMs = performance.now();
    void this.#look();
  }

  async #lookAtAll(): Promise<void> {
    this.#watches.forEach((_, tenantId) => this.#due.add(tenantId));
    await this.#look();
  }

  async #lookAtDue(): Promise<void> {
    const next = store.momentAt(Date.now() - WINDOW_MS);
    const inputs = [...this.#due].flatMap((tenantId) => {
      const { base } = this.#watches.get(tenantId) ?? {};
      const { id, at } = base?.since ?? next;
      return base === undefined ? [] : [{ tenantId, sinceId: id, sinceAt: at }];
    });
    this.#due.clear();
    for (const share of inputs.length === 0 ? [] : sharesOf(this.#deps.db, inputs, ({ tenantId }) => tenantId)) {
      try {
        const rows = await store.look(this.#deps.db, share.inputs, next);
        share.inputs.forEach(({ tenantId }, index) => this.#compare(tenantId, rows[index] ?? [], next));
        this.#isFailing = false;
      } catch (error) {
        this.#note(error);
      }
    }
  }

  #compare(tenantId: number, rows: store.NewRows[], next: store.Moment): void {
    const watch = this.#watches.get(tenantId);
    if (watch === undefined) {
      return;
    }
    const last = watch.base?.numbers;
    watch.base = { since: next, numbers: new Map(rows.map(({ kind, base }) => [kind, base ?? 0])) };
    if (last === undefined) {
      watch.subscriptions.forEach((subscription) => subscription.resync());
      return;
    }
    const topics = rows
      .filter(({ kind, seen }) => seen !== (last.get(kind) ?? 0))
      .flatMap(({ kind }) => topicsOfRows(kind));
    if (topics.length > 0) {
      watch.subscriptions.forEach((subscription) => subscription.tell(topics));
    }
  }

  /** @param changes new entries of the list of recent changes, or `all` if entries may be missing */
  #hear(changes: ChangeRow[] | 'all'): void {
    if (changes === 'all') {
      this.#subscriptions().forEach((subscription) => subscription.resync());
      return;
    }
    for (const { tenantId, topic } of changes) {
      this.#watches.get(tenantId)?.subscriptions.forEach((each) => each.tell(topicsOfChange(topic)));
    }
  }

  #subscriptions(): Subscription[] {
    return [...this.#watches.values()].flatMap(({ subscriptions }) => [...subscriptions]);
  }

  async #endLost(): Promise<void> {
    const byCaller = new Map(this.#subscriptions().map((subscription) => [subscription.staff, subscription]));
    const { db, noteUse } = this.#deps;
    const onError = (error: unknown) => this.#note(error);
    const ended = await findEndedCallers(db, [...byCaller.keys()], { noteUse, onError });
    ended.forEach((caller) => byCaller.get(caller)?.end());
  }

  /** Logs the first of several failures in a row. */
  #note(error: unknown): void {
    if (!this.#isFailing) {
      this.#deps.log.warn({ err: error }, 'live changes cannot be read from the database, so hints come late');
    }
    this.#isFailing = true;
  }
}
