/** Tells screens that data has changed: looks for new rows, and sends hints in the stream of each caller. */
import type { Logger } from 'pino';
import { findEndedCallers } from '#access/sessions/sessions.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { ChangeRow, RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { sharesOf } from '#platform/db/inputs.ts';
import { apiError } from '#platform/errors.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import * as store from './store.ts';
import { BOUNDS, type LiveStream, type StreamBounds } from './stream.ts';
import { topicsOfChange } from './topics.ts';

/** Time between two looks at all watched tenants, and at those of them that this process has changed. */
const LOOK_AT_ALL_EVERY_MS = 500;
const LOOK_AT_DUE_EVERY_MS = 100;
/**
 * A look counts the rows since the last multiple of `STEP_MS` at least this time ago. A row that is committed later than this after its time
 * is not told.
 */
const WINDOW_MS = 60_000;
const STEP_MS = 10_000;
/** Time between two checks of the access of all callers. A stream ends within 2 s after its caller has lost its access. */
const CHECK_ACCESS_EVERY_MS = 1_000;

interface Dependencies {
  db: Database;
  changes: Pick<RecentChanges, 'onChanges'>;
  /** Records that the session of a display is in use. */
  noteUse: (caller: Staff) => void;
  log: Logger;
  bounds?: Partial<StreamBounds> | undefined;
}

interface Watch {
  streams: Set<LiveStream>;
  /** Numbers of the last look by the moment from which it counted them. A later look counts from one of these moments too. */
  numbers: ReadonlyMap<number, string>;
}

/**
 * Tells callers by hints that data of their tenant has changed. Changes come from two sources: looks, which are regular reads of the newest
 * rows of the tenants that have open streams on this process, and the list of recent changes.
 */
export class LiveChanges {
  readonly #deps: Dependencies;
  readonly #bounds: StreamBounds;
  readonly #watches = new Map<number, Watch>();
  /** Tenants that the next look includes. */
  readonly #due = new Set<number>();
  #allDueAtMs = 0;
  readonly #polls: Poll[];
  #isFailing = false;
  #isStopping = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#bounds = { ...BOUNDS, ...deps.bounds };
    deps.changes.onChanges((changes) => this.#hear(changes));
    const onError = (error: unknown) => this.#note(error);
    this.#polls = [
      poll(LOOK_AT_DUE_EVERY_MS, () => this.#lookAtDue(), onError),
      poll(CHECK_ACCESS_EVERY_MS, () => this.#endLost(), onError),
      poll(this.#bounds.checkEveryMs, async () => this.#streams().forEach((each) => each.check(this.#bounds)), onError),
    ];
  }

  /** Number of the open streams of this process. */
  get size(): number {
    return this.#streams().length;
  }

  /** @throws ApiError 429 if the caller, the tenant or the process has so many open streams that it may not open another one */
  refuseTooMany(staff: Staff): void {
    const ofTenant = [...(this.#watches.get(staff.tenant.id)?.streams ?? [])];
    const ofCaller = ofTenant.filter((stream) => stream.staff.id === staff.id);
    refuseFrom(ofCaller.length, this.#bounds.ofCaller, 'You have');
    refuseFrom(ofTenant.length, this.#bounds.ofTenant, 'The tenant has');
    refuseFrom(this.size, this.#bounds.ofProcess, 'The service has');
  }

  add(stream: LiveStream): void {
    const { id } = stream.staff.tenant;
    const watch = this.#watches.get(id) ?? { streams: new Set(), numbers: new Map() };
    this.#watches.set(id, watch);
    watch.streams.add(stream);
    if (this.#isStopping) {
      stream.sayBye();
    } else if (watch.numbers.size > 0) {
      stream.resync();
    } else {
      this.#due.add(id);
    }
  }

  remove(stream: LiveStream): void {
    const { id } = stream.staff.tenant;
    const streams = this.#watches.get(id)?.streams;
    streams?.delete(stream);
    if (streams?.size === 0) {
      this.#watches.delete(id);
    }
  }

  /** Returns true if a stream of the tenant is open on this process. */
  isWatched(tenantId: number): boolean {
    return this.#watches.has(tenantId);
  }

  /** Called when this process has changed data of the tenant. */
  wake(tenantId: number): void {
    this.#due.add(tenantId);
  }

  /** Tells all clients that this process stops, and ends their streams. A stream that opens later ends immediately in the same way. */
  stop(): void {
    this.#isStopping = true;
    this.#streams().forEach((stream) => stream.sayBye());
  }

  async close(): Promise<void> {
    await Promise.all(this.#polls.map((each) => each.close()));
  }

  async #lookAtDue(): Promise<void> {
    const nowMs = performance.now();
    const areAllDue = nowMs >= this.#allDueAtMs;
    const tenantIds = [...this.#watches.keys()].filter((tenantId) => areAllDue || this.#due.has(tenantId));
    this.#allDueAtMs = areAllDue ? nowMs + LOOK_AT_ALL_EVERY_MS : this.#allDueAtMs;
    this.#due.clear();
    const first = Math.floor((Date.now() - WINDOW_MS) / STEP_MS) * STEP_MS;
    const moments: [number, number] = [first, first + STEP_MS];
    for (const { inputs } of tenantIds.length === 0 ? [] : sharesOf(this.#deps.db, tenantIds, (id) => id)) {
      try {
        const looks = await store.look(this.#deps.db, inputs, moments);
        looks.forEach((look, index) => this.#compare(this.#watches.get(inputs[index] ?? 0), look, moments));
        this.#isFailing = false;
      } catch (error) {
        this.#note(error);
      }
    }
  }

  /** The second moment of this look is the first one of a later look. So no row causes a hint when it grows too old for a look. */
  #compare(watch: Watch | undefined, { sinceFirst, sinceSecond }: store.Look, [first, second]: [number, number]): void {
    if (watch === undefined) {
      return;
    }
    const before = watch.numbers.get(first);
    watch.numbers = new Map([
      [first, sinceFirst],
      [second, sinceSecond],
    ]);
    if (before === undefined) {
      watch.streams.forEach((stream) => stream.resync());
    } else if (before !== sinceFirst) {
      const [numbers, numbersBefore] = [sinceFirst.split(' '), before.split(' ')];
      const topics = store.TOPIC_OF_NUMBER.filter((_, index) => numbers[index] !== numbersBefore[index]);
      watch.streams.forEach((stream) => stream.tell(topics));
    }
  }

  /** @param changes new entries of the list of recent changes, or `all` if entries may be missing */
  #hear(changes: ChangeRow[] | 'all'): void {
    if (changes === 'all') {
      this.#streams().forEach((stream) => stream.resync());
      return;
    }
    for (const { tenantId, topic } of changes) {
      this.#watches.get(tenantId)?.streams.forEach((stream) => stream.tell(topicsOfChange(topic)));
    }
  }

  #streams(): LiveStream[] {
    return [...this.#watches.values()].flatMap(({ streams }) => [...streams]);
  }

  async #endLost(): Promise<void> {
    const byCaller = new Map(this.#streams().map((stream) => [stream.staff, stream]));
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

function refuseFrom(count: number, most: number, whose: string): void {
  if (count >= most) {
    const message = `${whose} ${most} open streams, and more are not allowed. Close a stream, or open the new stream later.`;
    throw apiError('rate_limited', message, { 'retry-after': '5' });
  }
}
