/** Tells screens that data has changed: looks for new rows, and sends hints in the stream of each caller. */
import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { findEndedCallers } from '#access/sessions/sessions.ts';
import type { Staff } from '#access/tenants/tenants.ts';
import type { RecentChanges } from '#platform/changes/changes.ts';
import type { Database } from '#platform/db/database.ts';
import { forEachShare } from '#platform/db/inputs.ts';
import { apiError } from '#platform/errors.ts';
import { type Poll, poll } from '#platform/lib/poll.ts';
import { look } from './store.ts';
import { BOUNDS, LiveStream, type StreamBounds } from './stream.ts';

/** Time between two looks at all watched tenants, and at those of them that this process has changed. */
const LOOK_AT_ALL_EVERY_MS = 500;
const LOOK_AT_DUE_EVERY_MS = 100;
/** Time between two checks of the access of all callers. A stream ends within 2 s after its caller has lost its access. */
const CHECK_ACCESS_EVERY_MS = 1_000;

interface Dependencies {
  db: Database;
  changes: Pick<RecentChanges, 'catchUp'>;
  /** Records that the session of a display is in use. */
  noteUse: (caller: Staff) => void;
  log: Logger;
  bounds?: Partial<StreamBounds> | undefined;
}

/** Looks at the newest rows of the tenants that have open streams on this process. So it finds the changes of all processes. */
export class LiveChanges {
  readonly #deps: Dependencies;
  readonly #bounds: StreamBounds;
  readonly #streams = new Set<LiveStream>();
  /** Tenants that the next look includes if they have open streams. */
  readonly #due = new Set<number>();
  readonly #polls: Poll[];
  #isStopping = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#bounds = { ...BOUNDS, ...deps.bounds };
    const onError = (err: unknown) =>
      deps.log.warn({ err }, 'live changes cannot be read from the database, so hints come late');
    this.#polls = [
      poll(LOOK_AT_ALL_EVERY_MS, async () => this.#streams.forEach(({ staff }) => this.wake(staff.tenant.id)), onError),
      poll(LOOK_AT_DUE_EVERY_MS, () => this.#lookAtDue(), onError),
      poll(CHECK_ACCESS_EVERY_MS, () => this.#endLost(), onError),
      poll(this.#bounds.beatEveryMs, async () => this.#streams.forEach((stream) => stream.beat()), onError),
    ];
  }

  /** Number of the open streams of this process. */
  get size(): number {
    return this.#streams.size;
  }

  /** @throws ApiError 429 if the caller, the tenant or the process has so many open streams that it may not open another one */
  refuseTooMany({ id, tenant }: Staff): void {
    const ofTenant = this.#ofTenant(tenant.id);
    const ofCaller = ofTenant.filter(({ staff }) => staff.id === id);
    refuseFrom(ofCaller.length, this.#bounds.ofCaller, 'You have');
    refuseFrom(ofTenant.length, this.#bounds.ofTenant, 'The tenant has');
    refuseFrom(this.size, this.#bounds.ofProcess, 'The service has');
  }

  /** Begins a stream in a response, until the response closes. */
  open(staff: Staff, response: ServerResponse): void {
    const stream = new LiveStream(staff, response, this.#bounds.longestMs);
    this.#streams.add(stream);
    response.once('close', () => this.#streams.delete(stream));
    this.wake(staff.tenant.id);
    if (this.#isStopping) {
      stream.sayBye();
    }
  }

  /** Returns true if a stream of the tenant is open on this process. */
  isWatched(tenantId: number): boolean {
    return this.#ofTenant(tenantId).length > 0;
  }

  /** Called when this process has changed data of the tenant. */
  wake(tenantId: number): void {
    this.#due.add(tenantId);
  }

  /** Tells all clients that this process stops, and ends their streams. A stream that opens later ends immediately in the same way. */
  stop(): void {
    this.#isStopping = true;
    this.#streams.forEach((stream) => stream.sayBye());
  }

  async close(): Promise<void> {
    await Promise.all(this.#polls.map((each) => each.close()));
  }

  #ofTenant(tenantId: number): LiveStream[] {
    return [...this.#streams].filter(({ staff }) => staff.tenant.id === tenantId);
  }

  async #lookAtDue(): Promise<void> {
    const { db, changes } = this.#deps;
    const due = [...this.#streams].filter(({ staff }) => this.#due.has(staff.tenant.id));
    const streams = Map.groupBy(due, ({ staff }) => staff.tenant.id);
    this.#due.clear();
    const lookAt = async (tenantIds: number[]) => {
      const looks = await look(db, tenantIds, Date.now());
      // A client reads as soon as it gets a hint. So the caches of this process must have forgotten what the look has found changed.
      await changes.catchUp();
      tenantIds.forEach((id, index) => streams.get(id)?.forEach((stream) => stream.see(looks[index] ?? {})));
    };
    await forEachShare(db, [...streams.keys()], (id) => id, lookAt);
  }

  async #endLost(): Promise<void> {
    const streams = new Map(Array.from(this.#streams, (stream) => [stream.staff, stream]));
    const onEnded = (caller: Staff) => streams.get(caller)?.end();
    await findEndedCallers(this.#deps.db, [...streams.keys()], { noteUse: this.#deps.noteUse, onEnded });
  }
}

function refuseFrom(count: number, most: number, whose: string): void {
  if (count >= most) {
    const message = `${whose} ${most} open streams, and more are not allowed. Close a stream, or open the new stream later.`;
    throw apiError('rate_limited', message, { 'retry-after': '5' });
  }
}
