import type { Logger } from 'pino';
import { findEndedCallers } from '#access/sessions/sessions.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { ChangeRow, RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { type Share, sharesOf } from '#platform/db/inputs.ts';
import { chargeService } from '#platform/lib/account.ts';
import { RecentTopics } from './recent-topics.ts';
import * as store from './store.ts';
import type { Subscription } from './subscription.ts';
import { topicsOfChange } from './topics.ts';
import { LONGEST_TRANSACTION_MS, Watch } from './watch.ts';

/**
 * Time in milliseconds between two rounds. In each round, the service makes one look for each tenant with open streams. A look is a read of
 * the newest rows of one tenant.
 */
const LOOK_EVERY_MS = 500;
/**
 * Number of rounds between two checks of the access of all callers with open streams. A round comes every 500 ms, so a check begins every
 * second. The check takes some time too. So a stream ends within 2 s after its caller has lost its access.
 */
const CHECK_EVERY_ROUNDS = 2;
/**
 * Time in milliseconds from a write of this process until it reads the newest rows of the tenant. Writes within this time share one read.
 */
const WAKE_AFTER_MS = 30;
/** Shortest time in milliseconds between two reads of newest rows, if both reads were caused by writes of this process. */
const WAKE_GAP_MS = 100;

interface Dependencies {
  db: Database;
  changes: Pick<RecentChanges, 'onChanges'>;
  /** Records that the session of a display is in use. */
  noteUse: (caller: Staff) => void;
  log: Logger;
}

/** Numbers of looks (reads of the newest rows) and of hints (messages that data has changed) since the start of the process. */
export interface LiveCounts {
  /** Number of looks. Each look reads the newest rows of one tenant. */
  looks: number;
  /** Number of hints. A hint that goes to three streams counts three times. */
  hints: number;
}

/**
 * Tells callers by hints that data of their tenant has changed. A hint is a message without data, so a repeated or unnecessary hint does no
 * harm. This class learns of the changes of all processes from two sources, because each source shows only some kinds of data:
 * - The database has a list of recent changes, for example of menus and rates. Each process polls this list even without open streams,
 *   because its caches need the list too.
 * - A look is a regular read of the newest rows of a tenant, for example of orders and reservations. Only tenants with open streams get
 *   looks.
 */
export class LiveChanges {
  readonly counts: LiveCounts = { looks: 0, hints: 0 };
  readonly #db: Database;
  readonly #log: Logger;
  readonly #noteUse: (caller: Staff) => void;
  readonly #recentTopics = new RecentTopics();
  readonly #watches = new Map<number, Watch>();
  /**
   * Ids of the tenants that wait for a look (a read of the newest rows of one tenant). Two looks for the same tenant must not run at the
   * same time, because each look is compared with the previous look for this tenant.
   */
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
   * Begins to collect hints for a caller. The hints include all changes that are committed after this call.
   * @param lastEventId id of the last event that the client got on an earlier stream, from any process. The hints then also include the
   * changes since that event. Undefined: only new changes.
   * @throws the error of the database if the first read of the tenant's newest rows fails
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

  /**
   * Removes a subscription, so that it gets no more changes of the tenant. If the tenant has no other subscription, the service also stops
   * reading the newest rows of the tenant.
   */
  unsubscribe(subscription: Subscription): void {
    const { id } = subscription.staff.tenant;
    const watch = this.#watches.get(id);
    watch?.subscriptions.delete(subscription);
    if (watch?.subscriptions.size === 0) {
      this.#watches.delete(id);
    }
  }

  /**
   * Reads the newest rows of the tenant soon, because this process has changed data of the tenant. Does nothing if the tenant has no open
   * stream.
   */
  wake(tenantId: number): void {
    if (!this.#watches.has(tenantId)) {
      return;
    }
    this.#woken.add(tenantId);
    const waitMs = Math.max(WAKE_AFTER_MS, this.#wokenAtMs + WAKE_GAP_MS - performance.now());
    this.#waking ??= chargeService(() => setTimeout(() => this.#lookAtWoken(), waitMs).unref());
  }

  /** Stops the regular reads of newest rows. Waits until the read and the access check under way have ended. */
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
      // Waits for the next turn of the event loop, so that streams that open at the same time share the first read of newest rows.
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
      const rows = await store.look(this.#db, share.inputs);
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

  /**
   * Handles the newest rows of a tenant after each read. Adds the new changes to the next hint (a message that data has changed) of each
   * stream of the tenant. If a user, a display or a session has changed (topic `people`), some callers may have lost their access. In this
   * case, first ends the streams of these callers.
   */
  async #tell(watch: Watch, row: store.LookRow): Promise<void> {
    const facts = watch.remember(row);
    if (facts?.some(({ topics }) => topics.includes('people'))) {
      await this.#endLost([...watch.subscriptions]);
    }
    watch.tell(facts);
  }

  /**
   * Handles a failed read of a tenant's newest rows. If the first read has failed, the new subscriptions fail. If a later read has failed,
   * does nothing, because the next round reads the rows again.
   */
  #giveUp(watch: Watch | undefined, error: unknown): void {
    if (watch !== undefined && !watch.isReady) {
      this.#watches.delete(watch.tenantId);
      watch.fail(error);
    }
  }

  /** Ends the streams of callers who have lost their access or whose rights have changed. */
  async #endLost(subscriptions: Subscription[]): Promise<void> {
    const byCaller = new Map(subscriptions.map((subscription) => [subscription.staff, subscription]));
    const ended = await findEndedCallers(this.#db, [...byCaller.keys()], {
      noteUse: this.#noteUse,
      onError: (error) => this.#note(error),
    });
    ended.forEach((caller) => byCaller.get(caller)?.end());
  }

  /** Logs a failed read of the database. If several reads fail in a row, logs only the first failure. */
  #note(error: unknown): void {
    if (!this.#isFailing) {
      this.#log.warn(
        { err: error },
        'live changes cannot be read from the database; the streams report changes again when a read succeeds',
      );
    }
    this.#isFailing = true;
  }
}
