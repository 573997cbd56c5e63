import pg from 'pg';
import { UnavailableError } from '../errors.ts';

/**
 * How often is looked, in milliseconds, and from what age on a write is looked after. A write hangs if two looks find it waiting for
 * a standby: after 3 s at most.
 */
const LOOK_EVERY_MS = 1_000;
/** For the connection of a look, and for its answer. */
const LOOK_TIMEOUT_MS = 2_000;
/** Sessions of our own that have committed and wait for a standby to say that it has the commit. */
const WAITING = `
  SELECT pid || ' ' || query_start AS id FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'`;

/** A statement that never waits for a standby. A lock is a write: it may wait for a commit that does. */
const READ = /^\s*(?:select|with|start transaction\b.*\bread only)\b/is;
const CHANGE = /\b(?:insert|update|delete|merge|share)\b/i;
/** The ends of a transaction: the one of a read must not be refused. */
const END = /^\s*(?:commit|rollback)\b/i;

interface Write {
  startedMs: number;
  abandon: (error: UnavailableError) => void;
}

/**
 * Writes that hang because the database waits for standbys it has lost (`synchronous_commit`). PostgreSQL then lets a COMMIT wait without
 * end, also after its client has gone, and keeps its locks. From the outside such a write looks like one that waits for a lock,
 * which is legal. So the database itself is asked what it waits for, and only while a write takes long.
 *
 * While writes hang, those under way are given up and new ones refused, for each would leave one more of the server's connections
 * hanging. Reads go on. The outcome of a write that was given up is unknown: it is stored, and comes to last with the standby.
 */
export class HungWrites {
  readonly #url: string;
  readonly #onChange: (areHanging: boolean) => void;
  readonly #underWay = new Set<Write>();
  readonly #timer: NodeJS.Timeout;
  #areHanging = false;
  #isLooking = false;
  /** What the last look found. */
  #found = new Set<string>();

  /** @param onChange told once if writes begin to hang, and once if they go on */
  constructor(url: string, onChange: (areHanging: boolean) => void) {
    this.#url = url;
    this.#onChange = onChange;
    this.#timer = setInterval(() => void this.#check(), LOOK_EVERY_MS).unref();
  }

  get areHanging(): boolean {
    return this.#areHanging;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Runs a statement; a write only until it hangs.
   * @throws UnavailableError if writes hang; if it was sent before, its connection is of no use any more
   */
  async run<T>(text: string, send: () => Promise<T>): Promise<T> {
    if (READ.test(text) && !CHANGE.test(text)) {
      return await send();
    }
    if (this.#areHanging && !END.test(text)) {
      throw hanging();
    }
    const { promise: abandoned, reject: abandon } = Promise.withResolvers<never>();
    const write = { startedMs: performance.now(), abandon };
    this.#underWay.add(write);
    try {
      return await Promise.race([send(), abandoned]);
    } finally {
      this.#underWay.delete(write);
    }
  }

  async #check(): Promise<void> {
    const [oldest] = this.#underWay;
    const isDue = this.#areHanging || (oldest !== undefined && performance.now() - oldest.startedMs >= LOOK_EVERY_MS);
    if (!isDue || this.#isLooking) {
      return;
    }
    this.#isLooking = true;
    try {
      const found = await this.#look();
      this.#note([...found].some((id) => this.#found.has(id)));
      this.#found = found;
    } catch {
      // Not known: what was known stays, and a statement has its own timeout.
    } finally {
      this.#isLooking = false;
    }
  }

  /** On a connection of its own: those of the pools may all be hanging. */
  async #look(): Promise<Set<string>> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'roomservice look',
      connectionTimeoutMillis: LOOK_TIMEOUT_MS,
      query_timeout: LOOK_TIMEOUT_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ id: string }>(WAITING);
      return new Set(rows.map(({ id }) => id));
    } finally {
      void client.end().catch(() => {});
    }
  }

  #note(areHanging: boolean): void {
    if (areHanging !== this.#areHanging) {
      this.#areHanging = areHanging;
      this.#onChange(areHanging);
    }
    if (areHanging) {
      this.#underWay.forEach(({ abandon }) => abandon(hanging()));
    }
  }
}

function hanging(): UnavailableError {
  return new UnavailableError('The database waits for its standbys: writes hang.', { isLogged: true });
}
