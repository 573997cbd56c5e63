import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOrMakePassword, refuseMissing } from './cluster.ts';
import { locate } from './location.ts';
import { refuseOtherMajor } from './major-version.ts';
import type { Presence, Role } from './presence.ts';
import { databaseUrl, enter, leave, type Server } from './server.ts';

export interface EmbeddedPostgres {
  /** Connection string of the application's database, valid until `close`. It contains the password, so it must never be logged. */
  url: string;
  /** PostgreSQL's data directory. It may be outside DATA_DIR, as `locate` explains. */
  clusterDir: string;
  /** Disconnects this process. If no other process is connected, stops PostgreSQL and waits until PostgreSQL has ended. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** DATA_DIR as an absolute or relative path. The folder is created if it is missing. */
  dataDir: string;
  role: Role;
  /** Additional settings for PostgreSQL. They have an effect only if this process starts PostgreSQL. */
  settings?: Record<string, string>;
  /** True (the default) if a missing database is created. False if a missing database is an error. */
  mayCreate?: boolean;
  /** Receives messages about slow steps, about a database outside DATA_DIR, and about a lost and restored connection. */
  log?: (message: string) => void;
}

const RETRY_WAIT_MS = 500;

/**
 * Opens the service's own PostgreSQL in DATA_DIR. Connects to it if another process has started it, and starts it otherwise. If PostgreSQL
 * dies before `close`, starts it again under the same url.
 * @throws EmbeddedPostgresError if PostgreSQL cannot be used, or if another process forbids the role. The message says what to do.
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { role, settings = {}, mayCreate = true, log = () => {} } = options;
  if (!mayCreate) {
    await refuseMissing(options.dataDir);
  }
  const location = await locate(options.dataDir, log);
  await refuseOtherMajor(location.clusterDir);
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
  return { url: databaseUrl(server), clusterDir: location.clusterDir, close: () => (closed ??= close()) };
}

/**
 * Keeps a connection to PostgreSQL until `closing` is aborted, so that no other process stops PostgreSQL. If the connection is lost,
 * connects again. Returns the last connection, which may be lost already.
 */
async function keepPresence(server: Server, role: Role, first: Presence, closing: AbortSignal): Promise<Presence> {
  const closed = once(closing, 'abort');
  let presence = first;
  while (!closing.aborted) {
    await Promise.race([presence.ended, closed]);
    if (!closing.aborted) {
      server.log('The connection to PostgreSQL is lost. The service restores it.');
      const next = await enterAgain(server, role, closing);
      if (next !== undefined) {
        presence = next;
        server.log('The connection to PostgreSQL is restored.');
      }
    }
  }
  return presence;
}

/** Tries to connect to PostgreSQL until it succeeds. Returns undefined if `closing` is aborted first. */
async function enterAgain(server: Server, role: Role, closing: AbortSignal): Promise<Presence | undefined> {
  let lastMessage = '';
  while (!closing.aborted) {
    try {
      return await enter(server, role, closing);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== lastMessage && !closing.aborted) {
        server.log(message);
      }
      lastMessage = message;
    }
    await sleep(RETRY_WAIT_MS, undefined, { signal: closing }).catch(() => {});
  }
  return undefined;
}
