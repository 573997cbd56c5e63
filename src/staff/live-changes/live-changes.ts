import type { Logger } from 'pino';
import { findEndedCallers } from '#access/sessions/sessions.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { ChangeRow, RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { type Share, sharesOf } from '#platform/db/inputs.ts';
import { chargeService, chargeTo } from '#platform/lib/account.ts';
import { RecentTopics } from './recent-topics.ts';
import * as store from './store.ts';
import type { Subscription } from './subscription.ts';
import { topicsOfChange } from './topics.ts';
import { LONGEST_TRANSACTION_MS, Watch } from './watch.ts';

/** Time between two looks at all watched tenants in milliseconds. */
const LOOK_EVERY_MS = 500;
/** Number of rounds of looks after which the access of all callers is checked. A stream ends within 2 s after its caller has lost its access. */
const CHECK_EVERY_ROUNDS = 2;
/** Time from a write of this process to the look at its tenant. A few writes that come together share the look. */
const WAKE_AFTER_MS = 30;
/** Least time between two looks that writes of this process have caused. */
const WAKE_GAP_MS = 100;

interface Dependencies {
  db: Database;
  changes: Pick<RecentChanges, 'onChanges'>;
  /** Notes a use of the session of a display. */
  noteUse: (caller: Staff) => void;
  log: Logger;
}

/** Numbers since the start of the process. */
export interface LiveCounts {
  /** Looks at one tenant each. */
  looks: number;
  /** Hints that were sent to one stream each. */
  hints: number;
}

/**
 * Tells the callers who watch a tenant that something has changed. It finds the changes of all processes in the database: by the poll of the list
 * of recent changes, and by looks at the newest rows. While nobody watches, it sends no statement. It tells hints and no data, so a hint that is
 * told twice or too much does no harm.
 */
export class LiveChanges {
  readonly counts: LiveCounts = { looks: 0, hints: 0 };
  readonly #db: Database;
  readonly #log: Logger;
  readonly #noteUse: (caller: Staff) => void;
  readonly #recentTopics = new RecentTopics();
  readonly #watches = new Map<number, Watch>();
  /** Tenants whose look is due. One look runs at a time, so that the looks at a tenant are compared in their order. */
  readonly #due = new Set<number>();
  #looking: Promise<void> | null = null;
  #checking: Promise<void> | null = null;
  readonly #woken = new Set<number>();
  #waking: NodeJS.Timeout | null = null;
  #wokenAtMs = Number.NEGATIVE_INFINITY;
  #rounds: NodeJS.Timeout | null = null;
  #round = 0;
  #isFailing = false;

  constructor({ db, changes, noteUse, log }: Dependencies) {
    this.#db = db;
    this.#noteUse = noteUse;
    this.#log = log;
    changes.onChanges((rows) => this.#hear(rows));
  }

  /**
   * Begins to collect hints for a caller. All changes that are committed after this call are told.
   * @param lastEventId id of the last hint that the client has got from any process. What it has missed since is told too.
   * @throws the error of the database if the first look at the tenant fails
   */
  async subscribe(staff: Staff, lastEventId: string | undefined): Promise<Subscription> {
    const watch = this.#watchOf(staff.tenant.id);
    const subscription = watch.subscribe(staff, () => (this.counts.hints += 1));
    try {
      await watch.ready();
    } catch (error) {
      this.unsubscribe(subscription);
      throw error;
    }
    if (lastEventId !== undefined) {
      this.#resume(watch, subscription, lastEventId);
    }
    return subscription;
  }

  unsubscribe(subscription: Subscription): void {
    const { id } = subscription.staff.tenant;
    const watch = this.#watches.get(id);
    watch?.subscriptions.delete(subscription);
    if (watch?.subscriptions.size === 0) {
      this.#watches.delete(id);
    }
  }

  /** Looks soon at a tenant of which this process has written data. Costs nothing if nobody watches the tenant. */
  wake(tenantId: number): void {
    if (!this.#watches.has(tenantId)) {
      return;
    }
    this.#woken.add(tenantId);
    const waitMs = Math.max(WAKE_AFTER_MS, this.#wokenAtMs + WAKE_GAP_MS - performance.now());
    this.#waking ??= chargeService(() => setTimeout(() => this.#lookAtWoken(), waitMs).unref());
  }

  /** Stops the looks, and waits for those under way. */
  async close(): Promise<void> {
    clearInterval(this.#rounds ?? undefined);
    clearTimeout(this.#waking ?? undefined);
    this.#watches.clear();
    await Promise.all([this.#looking, this.#checking]);
  }

  #watchOf(tenantId: number): Watch {
    const known = this.#watches.get(tenantId);
    if (known !== undefined) {
      return known;
    }
    const watch = new Watch(tenantId);
    this.#watches.set(tenantId, watch);
    this.#due.add(tenantId);
    chargeService(() => {
      this.#rounds ??= setInterval(() => this.#beginRound(), LOOK_EVERY_MS).unref();
      // Streams that open together share the first look.
      setImmediate(() => this.#lookAtDue());
    });
    return watch;
  }

  #resume(watch: Watch, subscription: Subscription, lastEventId: string): void {
    const { tenant, session } = subscription.staff;
    const missed = watch.missedSince(lastEventId, session.now.getTime());
    if (missed === null) {
      subscription.resync();
      return;
    }
    const topics = this.#recentTopics.since(tenant.id, missed.momentMs - LONGEST_TRANSACTION_MS);
    subscription.tell([...missed.facts, { topics: topics.flatMap(topicsOfChange) }]);
  }

  #hear(rows: ChangeRow[]): void {
    this.#recentTopics.add(rows);
    for (const { tenantId, topic } of rows) {
      const watch = this.#watches.get(tenantId);
      watch?.subscriptions.forEach((subscription) => subscription.tell([{ topics: topicsOfChange(topic) }]));
    }
  }

  #beginRound(): void {
    if (this.#watches.size === 0) {
      clearInterval(this.#rounds ?? undefined);
      this.#rounds = null;
      return;
    }
    this.#round += 1;
    for (const tenantId of this.#watches.keys()) {
      this.#due.add(tenantId);
    }
    this.#lookAtDue();
    if (this.#round % CHECK_EVERY_ROUNDS === 0) {
      const all = [...this.#watches.values()].flatMap(({ subscriptions }) => [...subscriptions]);
      this.#checking ??= this.#endLost(all).finally(() => (this.#checking = null));
    }
  }

  #lookAtWoken(): void {
    this.#waking = null;
    this.#wokenAtMs = performance.now();
    this.#woken.forEach((tenantId) => this.#due.add(tenantId));
    this.#woken.clear();
    this.#lookAtDue();
  }

  #lookAtDue(): void {
    this.#looking ??= this.#lookUntilDone().finally(() => (this.#looking = null));
  }

  async #lookUntilDone(): Promise<void> {
    while (this.#due.size > 0) {
      const watches = [...this.#due].flatMap((tenantId) => this.#watches.get(tenantId) ?? []);
      this.#due.clear();
      const inputs = watches.map(({ tenantId, backMs }) => ({ tenantId, backMs }));
      for (const share of inputs.length === 0 ? [] : sharesOf(this.#db, inputs, ({ tenantId }) => tenantId)) {
        await this.#lookAt(share);
      }
    }
  }

  async #lookAt(share: Share<store.LookInput>): Promise<void> {
    const watches = share.inputs.map(({ tenantId }) => this.#watches.get(tenantId));
    try {
      const rows = await chargeTo(share.account, () => store.look(this.#db, share));
      this.counts.looks += rows.length;
      this.#isFailing = false;
      for (const [index, watch] of watches.entries()) {
        const row = rows[index];
        if (watch !== undefined && row !== undefined) {
          await this.#tell(watch, row);
        }
      }
    } catch (error) {
      this.#note(error);
      watches.forEach((watch) => this.#giveUp(watch, error));
    }
  }

  /** Tells what a look has shown. If people have changed, first ends the streams of those who have lost their access. */
  async #tell(watch: Watch, row: store.LookRow): Promise<void> {
    const facts = watch.remember(row);
    if (facts?.some(({ topics }) => topics.includes('people'))) {
      await this.#endLost([...watch.subscriptions]);
    }
    watch.tell(facts);
  }

  /** Ends the wait for the first look at a tenant, if this look has failed. A tenant that was looked at before is looked at again. */
  #giveUp(watch: Watch | undefined, error: unknown): void {
    if (watch !== undefined && !watch.isReady) {
      this.#watches.delete(watch.tenantId);
      watch.fail(error);
    }
  }

  /** Ends the streams of callers who have lost their access, or have other rights now. */
  async #endLost(subscriptions: Subscription[]): Promise<void> {
    const byCaller = new Map(subscriptions.map((subscription) => [subscription.staff, subscription]));
    const ended = await findEndedCallers(this.#db, [...byCaller.keys()], {
      noteUse: this.#noteUse,
      onError: (error) => this.#note(error),
    });
    ended.forEach((caller) => byCaller.get(caller)?.end());
  }

  /** Logs the first of several failures. */
  #note(error: unknown): void {
    if (!this.#isFailing) {
      this.#log.warn({ err: error }, 'the newest changes cannot be read, so open streams of live changes are silent');
    }
    this.#isFailing = true;
  }
}
