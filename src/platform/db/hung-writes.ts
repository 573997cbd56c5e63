import { UnavailableError } from '../errors.ts';
import { look } from './look.ts';

/**
 * Time in milliseconds between two checks for hanging writes. A write counts as hanging if two checks in a row find that it waits for a
 * standby. So a hanging write is found at most 3 s after it began:
 * - The first second of a write may pass without a check, because a check is done only if a running write is at least 1 s old.
 * - The first check of the write comes at most 1 s later, because the time between two checks is 1 s.
 * - The second check comes 1 s after the first check.
 */
const CHECK_EVERY_MS = 1_000;
/** Time limit in milliseconds for connecting to the database for a check, and for the query of the check. */
const CHECK_TIMEOUT_MS = 2_000;
/**
 * Selects the sessions that wait until a standby confirms their commit. Only sessions of the database user of this process are selected.
 */
const WAITING = `
  SELECT pid || ' ' || query_start AS id FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND wait_event = 'SyncRep'`;

/**
 * A statement counts as a read if `READ` matches it and `CHANGE` does not match it. Reads may run while writes hang. `CHANGE` also has the
 * words of a SELECT that locks rows, such as FOR SHARE. Such a SELECT counts as a write, because it can wait for a transaction whose commit
 * hangs.
 */
const READ = /^\s*(?:select|with|start transaction\b.*\bread only)\b/is;
const CHANGE = /\b(?:insert|update|delete|merge|share)\b/i;
/**
 * Matches the statements that end a transaction. They are never refused, because a transaction that only reads must be able to end while
 * writes hang.
 */
const END = /^\s*(?:commit|rollback)\b/i;

interface Write {
  startedMs: number;
  abandon: (error: UnavailableError) => void;
}

/**
 * Finds writes that hang because the database has lost its standbys and waits for their confirmation (setting `synchronous_commit`).
 * PostgreSQL then lets a COMMIT wait without a time limit, even after its client has disconnected. Meanwhile the transaction keeps its
 * locks. The client cannot tell such a write from a write that waits for a lock, which is normal. So if a write takes long, this class asks
 * the database what the write waits for.
 *
 * While writes hang, this class abandons the running writes and refuses new writes, because each write would occupy one more connection of
 * the server. Reads continue. The outcome of an abandoned write is unknown. If its COMMIT was waiting, the primary has stored the write,
 * and it becomes durable when the standby has it too.
 */
export class HungWrites {
  readonly #url: string;
  readonly #onChange: (areHanging: boolean) => void;
  readonly #underWay = new Set<Write>();
  readonly #timer: NodeJS.Timeout;
  #areHanging = false;
  #isChecking = false;
  /** Sessions that waited for a standby at the last check. */
  #found = new Set<string>();

  /** @param onChange called once when writes begin to hang, and once when they no longer hang */
  constructor(url: string, onChange: (areHanging: boolean) => void) {
    this.#url = url;
    this.#onChange = onChange;
    this.#timer = setInterval(() => void this.#check(), CHECK_EVERY_MS).unref();
  }

  get areHanging(): boolean {
    return this.#areHanging;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Runs a statement. If the statement is a write, abandons it as soon as writes hang.
   * @throws UnavailableError if writes hang. If the statement was sent already, its connection cannot be used again.
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
    const isDue = this.#areHanging || (oldest !== undefined && performance.now() - oldest.startedMs >= CHECK_EVERY_MS);
    if (!isDue || this.#isChecking) {
      return;
    }
    this.#isChecking = true;
    try {
      const found = await this.#readWaitingSessions();
      this.#note([...found].some((id) => this.#found.has(id)));
      this.#found = found;
    } catch {
      // The check has failed, so the result of the previous check stays. If all checks fail while a write hangs, this class does not
      // abandon the write. But the caller of the write waits at most 12 s (`QUERY_TIMEOUT_MS`).
    } finally {
      this.#isChecking = false;
    }
  }

  async #readWaitingSessions(): Promise<Set<string>> {
    const { rows } = await look(this.#url, CHECK_TIMEOUT_MS, (client) => client.query<{ id: string }>(WAITING));
    return new Set(rows.map(({ id }) => id));
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
  return new UnavailableError('Writes do not complete, because the database waits for its standbys. Try again.', {
    isLogged: true,
  });
}
