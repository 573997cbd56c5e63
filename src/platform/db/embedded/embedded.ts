import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasPassword, readOrMakePassword } from './cluster.ts';
import { EmbeddedPostgresError } from './failure.ts';
import { locate } from './location.ts';
import type { Presence, Role } from './presence.ts';
import { databaseUrl, enter, leave, type Server } from './server.ts';

export interface EmbeddedPostgres {
  /**
   * Connection string of the application's database, valid for as long as this is open. Holds the password: never log
   * it.
   */
  url: string;
  /** PostgreSQL's data directory, which need not be inside DATA_DIR: see `locate`. */
  clusterDir: string;
  /** Leaves. The last process to leave stops PostgreSQL and returns when it is down. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** DATA_DIR, absolute or relative; created where it is missing. */
  dataDir: string;
  /** A second `serve` on one DATA_DIR is refused; any number of commands come and go beside it. */
  role: Role;
  /** More settings for PostgreSQL, used if it is this process that starts it. */
  settings?: Record<string, string>;
  /** False: a database that is not there is a fault, not made. */
  mayCreate?: boolean;
  /** Told what takes long, where the database lives when not in DATA_DIR, and when PostgreSQL is lost and back. */
  log?: (message: string) => void;
}

const FIRST_RETRY_WAIT_MS = 100;
const MAX_RETRY_WAIT_MS = 2_000;

/**
 * Opens the service's own PostgreSQL in DATA_DIR: joins it where another process runs it already, starts it where
 * none does. Should it die while this is open, it is brought back, under the same url.
 * @throws EmbeddedPostgresError that says what is wrong and what to do; AlreadyServedError for a second `serve`
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { role, settings = {}, mayCreate = true, log = () => {} } = options;
  if (!mayCreate && !(await hasPassword(options.dataDir))) {
    throw new EmbeddedPostgresError(
      `There is no database in ${options.dataDir}. Set DATA_DIR (or DATABASE_URL) to what the service has.`,
    );
  }
  const location = await locate(options.dataDir, log);
  const password = await readOrMakePassword(location.dataDir);
  const server: Server = { location, password, settings, mayCreate: true, log };
  const closing = new AbortController();
  const presence = await enter(server, role, closing.signal);
  const keeping = keepPresence({ ...server, mayCreate: false }, role, presence, closing.signal);
  const close = async () => {
    closing.abort();
    await leave(server, await keeping);
  };
  let closed: Promise<void> | undefined;
  return {
    url: databaseUrl(server),
    clusterDir: location.clusterDir,
    close: () => (closed ??= close()),
  };
}

/**
 * Enters again whenever the connection is lost, until `closing`. Returns the last presence, which may be a lost one.
 */
async function keepPresence(server: Server, role: Role, first: Presence, closing: AbortSignal): Promise<Presence> {
  const closed = once(closing, 'abort');
  let presence = first;
  while (!closing.aborted) {
    await Promise.race([presence.ended, closed]);
    if (!closing.aborted) {
      server.log('The connection to PostgreSQL is lost. Bringing it back.');
      const next = await enterPersistently(server, role, closing);
      if (next !== undefined) {
        presence = next;
        server.log('PostgreSQL is back.');
      }
    }
  }
  return presence;
}

/** Tries until it succeeds, with growing waits; undefined when `closing` comes first. */
async function enterPersistently(server: Server, role: Role, closing: AbortSignal): Promise<Presence | undefined> {
  let lastMessage = '';
  for (let waitMs = FIRST_RETRY_WAIT_MS; !closing.aborted; waitMs = Math.min(waitMs * 2, MAX_RETRY_WAIT_MS)) {
    try {
      return await enter(server, role, closing);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== lastMessage && !closing.aborted) {
        server.log(message);
      }
      lastMessage = message;
    }
    await sleep(waitMs, undefined, { signal: closing }).catch(() => {});
  }
  return undefined;
}
